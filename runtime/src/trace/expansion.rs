//! Small functions that give generated code its types.

use crate::trace::span::{IntoParent, Start, Starting};

/// A body as a closure that is called once: inferred as `FnOnce`, it may return what it captured.
#[inline(always)]
pub fn body<R, F: FnOnce(Option<&mut Starting>) -> R>(body: F) -> F {
    body
}

/// Calls a body at once.
#[inline(always)]
pub fn call<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// No attributes, no links.
#[inline(always)]
pub fn no_fields(_: &mut Start) {}

/// Hands a value to a closure whose parameter's type is then known.
#[inline(always)]
pub fn apply<'a, T: ?Sized, R>(value: &'a T, f: impl FnOnce(&'a T) -> R) -> R {
    f(value)
}

/// Gives an expression its type where it is never reached.
pub fn unreachable_value<T>() -> T {
    unreachable!("generated code pins a type with this, behind `if false`")
}

/// Has the compiler check fields that are compiled out.
pub fn check(_: impl FnOnce(&mut Start)) {}

/// Has the compiler check a parent that is compiled out.
pub fn check_parent<P: IntoParent>(_: impl FnOnce() -> P) {}

/// The output of a function type: a way to name `!`.
pub trait FnOutput {
    /// What it returns.
    type Output;
}

impl<R> FnOutput for fn() -> R {
    type Output = R;
}
