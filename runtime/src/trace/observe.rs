//! What a result says about its call, told by its type, whatever that is called in the source.
//!
//! `Tag::<R>::NEW.observer()` is found through `Deref`: a tag has one level per case, from the most special to the most
//! general, and each level has a method of this name. So generated code needs no trait in scope and no closure.

use std::any::type_name;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::declare::meter::ResultLabels;
use crate::trace::error::{ErrorInfo, TcError};
use crate::trace::known_error::KnownError;
use crate::trace::span::End;

/// What looks at a result when a call is over, or at an item of a stream.
pub trait Observe<R> {
    /// Tells `seen` of it.
    fn observe(&self, result: &R, seen: &mut Seen<'_>);
}

/// Observes nothing.
impl<R> Observe<R> for () {
    #[inline(always)]
    fn observe(&self, _: &R, _: &mut Seen<'_>) {}
}

/// One after the other.
impl<R, A: Observe<R>, B: Observe<R>> Observe<R> for (A, B) {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        self.0.observe(result, seen);
        self.1.observe(result, seen);
    }
}

/// A closure that observes, where the type of the result has no name.
#[derive(Clone, Copy)]
pub struct Probe<H>(pub(crate) H);

impl<R, H: Fn(&R, &mut Seen<'_>)> Observe<R> for Probe<H> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        (self.0)(result, seen);
    }
}

/// Who is told of a result: the span if it is recorded, the metrics if the call is measured.
pub struct Seen<'v> {
    pub(crate) end: Option<End>,
    pub(crate) verdict: Option<&'v mut Verdict>,
}

impl Seen<'_> {
    /// Has an observer look at the result.
    #[inline(always)]
    pub fn by<R>(&mut self, observer: impl Observe<R>, result: &R) {
        observer.observe(result, self);
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: &ErrorInfo<'_>) {
        if let Some(end) = &mut self.end {
            end.fail(error);
        }
        if let Some(verdict) = &mut self.verdict {
            verdict.failed = true;
            verdict.error_type = Some(error.error_type);
        }
    }
}

/// What a result says to metrics: whether it is an error, of which type, and the labels that come from it.
#[derive(Default)]
pub struct Verdict {
    pub(crate) failed: bool,
    pub(crate) error_type: Option<&'static str>,
    pub(crate) labels: ResultLabels,
}

/// The type of a result.
pub struct Tag<R>(PhantomData<fn(&R)>);

/// A tag from which some cases were taken off.
pub struct Level<R, const LEVEL: u8>(PhantomData<fn(&R)>);

impl<R> Tag<R> {
    /// The tag of this type.
    pub const NEW: Self = Tag(PhantomData);

    /// The tag of a value's type.
    #[inline(always)]
    pub fn of(_: &R) -> Self {
        Tag::NEW
    }

    /// Gives an expression its type where it is never reached.
    pub fn unreachable() -> R {
        unreachable!("generated code pins a type with this, behind `if false`")
    }
}

impl<R> Deref for Tag<R> {
    type Target = Level<R, 0>;

    #[inline(always)]
    fn deref(&self) -> &Level<R, 0> {
        &Level(PhantomData)
    }
}

/// Observes the errors of one level, with their messages or without.
pub struct Errors<const LEVEL: u8, const MESSAGE: bool>;

macro_rules! level {
    ($(#[$doc:meta])* $level:literal [$($bound:tt)*] |$error:ident| $type:expr, $message:expr, next: $next:literal) => {
        impl<R> Deref for Level<R, $level> {
            type Target = Level<R, $next>;

            #[inline(always)]
            fn deref(&self) -> &Level<R, $next> {
                &Level(PhantomData)
            }
        }

        $(#[$doc])*
        impl<T, E $($bound)*> Level<Result<T, E>, $level> {
            /// Observes errors.
            #[inline(always)]
            pub fn observer(&self) -> Errors<$level, true> {
                Errors
            }

            /// Observes errors, of which only the type is recorded.
            #[inline(always)]
            pub fn type_observer(&self) -> Errors<$level, false> {
                Errors
            }
        }

        impl<T, E $($bound)*, const MESSAGE: bool> Observe<Result<T, E>> for Errors<$level, MESSAGE> {
            #[inline]
            fn observe(&self, result: &Result<T, E>, seen: &mut Seen<'_>) {
                if let Err($error) = result {
                    // In one statement: some messages live no longer.
                    seen.fail(&ErrorInfo { error_type: $type, message: shown(MESSAGE, $message) });
                }
            }
        }
    };
}

level!(
    /// A `Result` whose error has derived types and can be shown.
    0 [: TcError + Display] |error| error.error_type(), Some(error), next: 1
);
level!(
    /// A `Result` whose error has derived types.
    1 [: TcError] |error| error.error_type(), None, next: 2
);
level!(
    /// A `Result` whose error tells its type at run time.
    2 [: KnownError] |error| error.known_type(), Some(&error.message()), next: 3
);
level!(
    /// A `Result` whose error can be shown.
    3 [: Display] |error| type_name_of(error), Some(error), next: 4
);
level!(
    /// Any `Result`.
    4 [] |error| type_name_of(error), None, next: 5
);

/// The message, if it is to be recorded.
fn shown(is_wanted: bool, message: Option<&dyn Display>) -> Option<&dyn Display> {
    message.filter(|_| is_wanted)
}

/// The name of an error's type.
fn type_name_of<E>(_: &E) -> &'static str {
    type_name::<E>()
}

/// Anything else: no error.
impl<R> Level<R, 5> {
    /// Observes nothing.
    #[inline(always)]
    pub fn observer(&self) {}

    /// Observes nothing.
    #[inline(always)]
    pub fn type_observer(&self) {}
}

/// Observes the errors for which a closure returns true.
pub struct ErrorsIf<O, F>(O, F);

impl<T, E, O: Observe<Result<T, E>>, F: Fn(&E) -> bool> Observe<Result<T, E>> for ErrorsIf<O, F> {
    #[inline]
    fn observe(&self, result: &Result<T, E>, seen: &mut Seen<'_>) {
        if result.as_ref().is_err_and(&self.1) {
            self.0.observe(result, seen);
        }
    }
}

impl<T, E> Level<Result<T, E>, 4> {
    /// Leaves out the errors for which the closure is false.
    #[inline(always)]
    pub fn err_if<O, F: Fn(&E) -> bool>(&self, observer: O, is_error: F) -> ErrorsIf<O, F> {
        ErrorsIf(observer, is_error)
    }
}

impl<R> Level<R, 5> {
    /// Refuses a closure where there are no errors.
    pub fn err_if<O, F>(&self, observer: O, _: F) -> O
    where
        R: IsResult,
    {
        observer
    }
}

/// No type: those that are a `Result` do not ask for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so that `err_if` has no errors to decide about",
    label = "not a closure about the error of a `Result`",
    note = "remove `err_if`, or return a `Result`; of a future or stream it is about the output or the items"
)]
pub trait IsResult {}

/// What attributes and labels are made from.
pub trait ValueOf<R> {
    /// Its type.
    type Value;
    /// The value, if there is one.
    fn value(result: &R) -> Option<&Self::Value>;
}

/// The value of a `Result` that is no error.
pub enum OkValue {}

impl<T, E> ValueOf<Result<T, E>> for OkValue {
    type Value = T;

    #[inline(always)]
    fn value(result: &Result<T, E>) -> Option<&T> {
        result.as_ref().ok()
    }
}

/// The result itself.
pub enum Itself {}

impl<R> ValueOf<R> for Itself {
    type Value = R;

    #[inline(always)]
    fn value(result: &R) -> Option<&R> {
        Some(result)
    }
}

/// Makes attributes of a value, if the span is recorded.
pub struct Attributes<V, F>(F, PhantomData<fn(&V)>);

impl<R, V: ValueOf<R>, F: Fn(&V::Value, &mut End)> Observe<R> for Attributes<V, F> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        if let (Some(end), Some(value)) = (&mut seen.end, V::value(result)) {
            (self.0)(value, end);
        }
    }
}

/// Makes labels of a value, if the call is measured.
pub struct LabelValues<V, F>(F, PhantomData<fn(&V)>);

impl<R, V: ValueOf<R>, F: Fn(&V::Value, &mut ResultLabels)> Observe<R> for LabelValues<V, F> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        if let (Some(verdict), Some(value)) = (&mut seen.verdict, V::value(result)) {
            (self.0)(value, &mut verdict.labels);
        }
    }
}

macro_rules! values {
    ([$($generic:ident),+] $result:ty, $level:literal, $of:ty, $value:ty) => {
        impl<$($generic),+> Level<$result, $level> {
            /// Makes attributes of the value.
            #[inline(always)]
            pub fn attributes<F: Fn(&$value, &mut End)>(&self, attributes: F) -> Attributes<$of, F> {
                Attributes(attributes, PhantomData)
            }

            /// Makes labels of the value.
            #[inline(always)]
            pub fn labels<F: Fn(&$value, &mut ResultLabels)>(&self, labels: F) -> LabelValues<$of, F> {
                LabelValues(labels, PhantomData)
            }
        }
    };
}

values!([T, E] Result<T, E>, 4, OkValue, T);
values!([R] R, 5, Itself, R);

/// Hands a value to a closure whose parameter's type is then known.
#[inline(always)]
pub fn apply<'a, T: ?Sized, R>(value: &'a T, f: impl FnOnce(&'a T) -> R) -> R {
    f(value)
}

/// The output of a function type: a way to name `!`.
pub trait FnOutput {
    /// What it returns.
    type Output;
}

impl<R> FnOutput for fn() -> R {
    type Output = R;
}
