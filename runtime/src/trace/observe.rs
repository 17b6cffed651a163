//! Observes the results of calls. Only the result's type decides what is observed, so aliases behave like the types they name.
//!
//! `(Tag::<R>::ERRORS, Tag::<R>::TYPES, Tag::<R>::MESSAGES)` observes an `R`: each constant is an inherent one if the type has
//! it, else the default of the trait `Otherwise`. These are paths and not methods found through `Deref`, because the compiler
//! resolves paths several times faster.

use std::any::type_name;
use std::fmt::Display;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use futures_core::Stream;

use crate::declare::meter::ResultLabels;
use crate::trace::error::ErrorInfo;
use crate::trace::known_error::KnownError;
use crate::trace::span::End;

/// Observes the result of a call, or an item of a stream.
pub trait Observe<R> {
    /// Reports the result to `seen`.
    fn observe(&self, result: &R, seen: &mut Seen<'_>);
}

/// Observes nothing.
impl<R> Observe<R> for () {
    #[inline(always)]
    fn observe(&self, _: &R, _: &mut Seen<'_>) {}
}

/// Observes with both observers, one after the other.
impl<R, A: Observe<R>, B: Observe<R>> Observe<R> for (A, B) {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        self.0.observe(result, seen);
        self.1.observe(result, seen);
    }
}

/// An observer that is a closure, for results whose type has no name.
#[derive(Clone, Copy)]
pub struct Probe<H>(pub(crate) H);

impl<R, H: Fn(&R, &mut Seen<'_>)> Observe<R> for Probe<H> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        (self.0)(result, seen);
    }
}

/// The receivers of an observation: the span if it is recorded, the metrics if the call is measured.
pub struct Seen<'v> {
    pub(crate) end: Option<End>,
    pub(crate) verdict: Option<&'v mut Verdict>,
}

impl Seen<'_> {
    /// Observes the result with `observer`.
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

/// The outcome of a call for its metrics: a flag for failure, the error type, and the labels derived from the result.
#[derive(Default)]
pub struct Verdict {
    pub(crate) failed: bool,
    pub(crate) error_type: Option<&'static str>,
    pub(crate) labels: ResultLabels,
}

/// The type of a result. Its properties are associated constants: those of the `impl` blocks of [`Tag`] that apply, else those of
/// [`Otherwise`], because the compiler prefers inherent constants. Each constant has its own type.
pub struct Tag<R>(PhantomData<fn(&R)>);

impl<R> Tag<R> {
    /// The tag of the type `R`.
    pub const NEW: Self = Tag(PhantomData);

    /// Returns the tag of a value's type.
    #[inline(always)]
    pub fn of(_: &R) -> Self {
        Tag::NEW
    }

    /// Gives an unreachable expression in generated code the type `R`. Never called.
    pub fn unreachable() -> R {
        unreachable!("generated code pins a type with this, behind `if false`")
    }
}

/// The defaults, for types without a more specific `impl`.
pub trait Otherwise<R>: Sized {
    /// The type is not a `Result`, nor a boxed future or stream of one.
    const ERRORS: () = ();
    /// The errors have no known types except their type's name.
    const TYPES: () = ();
    /// The errors have no message.
    const MESSAGES: () = ();
    /// The type is not a boxed future or stream.
    const COVER: () = ();

    /// Accepts the type, because it is not a future.
    #[inline(always)]
    fn future() {}

    /// Returns [`ERRORS`](Self::ERRORS), for a type without a name.
    #[inline(always)]
    fn errors(&self) {}

    /// Returns [`TYPES`](Self::TYPES), for a type without a name.
    #[inline(always)]
    fn types(&self) {}

    /// Returns [`MESSAGES`](Self::MESSAGES), for a type without a name.
    #[inline(always)]
    fn messages(&self) {}

    /// Returns the tag of the value in a result: here the result itself.
    #[inline(always)]
    fn given(&self) -> Tag<R> {
        Tag::NEW
    }

    /// Creates an observer that derives attributes from the result.
    #[inline(always)]
    fn attributes<F: Fn(&R, &mut End)>(&self, attributes: F) -> Attributes<Itself, F> {
        Attributes(attributes, PhantomData)
    }

    /// Creates an observer that derives labels from the result.
    #[inline(always)]
    fn labels<F: Fn(&R, &mut ResultLabels)>(&self, labels: F) -> LabelValues<Itself, F> {
        LabelValues(labels, PhantomData)
    }

    /// Rejects an `err_if` closure, because the type is not a `Result`.
    fn err_if<O, F>(&self, observer: O, _: F) -> O
    where
        R: IsResult,
    {
        observer
    }
}

impl<R> Otherwise<R> for Tag<R> {}

/// The constant of a `Result`, or of a boxed future or stream of one.
pub struct Errors;

/// The constant of results whose errors have known types.
pub struct Typed;

/// The constant of results whose errors implement `Display`.
pub struct Shown;

/// Takes the place of `Shown` if messages are not to be recorded.
pub struct Unwanted;

/// A `Result`, or a boxed future or stream of one.
pub trait Fallible {
    /// The error type.
    type Error;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;
}

macro_rules! fallible {
    ($($($auto:ident)*),+) => {$(
        impl<'a, T, E> Fallible for Pin<Box<dyn Future<Output = Result<T, E>> $(+ $auto)* + 'a>> {
            type Error = E;
        }

        impl<'a, T, E> Fallible for Pin<Box<dyn Stream<Item = Result<T, E>> $(+ $auto)* + 'a>> {
            type Error = E;
        }
    )+};
}

fallible!(, Send, Send Sync);

// A trait bound instead of one `impl` per type: the compiler examines every `impl` block of `Tag` with a constant of this name.
impl<R: Fallible> Tag<R> {
    /// The result may be an error.
    pub const ERRORS: Errors = Errors;

    /// Returns [`ERRORS`](Self::ERRORS), for a type without a name.
    #[inline(always)]
    pub fn errors(&self) -> Errors {
        Errors
    }
}

impl<R: Fallible<Error: KnownError>> Tag<R> {
    /// The errors have known types.
    pub const TYPES: Typed = Typed;

    /// Returns [`TYPES`](Self::TYPES), for a type without a name.
    #[inline(always)]
    pub fn types(&self) -> Typed {
        Typed
    }
}

impl<R: Fallible<Error: Display>> Tag<R> {
    /// The errors implement `Display`.
    pub const MESSAGES: Shown = Shown;

    /// Returns [`MESSAGES`](Self::MESSAGES), for a type without a name.
    #[inline(always)]
    pub fn messages(&self) -> Shown {
        Shown
    }
}

/// Reports the `Err` of a `Result`; `A` selects its error type and `B` its message.
impl<T, E, A: ErrorTypes<E>, B: Messages<E>> Observe<Result<T, E>> for (Errors, A, B) {
    #[inline]
    fn observe(&self, result: &Result<T, E>, seen: &mut Seen<'_>) {
        if let Err(error) = result {
            A::fail::<B>(error, seen);
        }
    }
}

/// Observes nothing, because the type has no errors.
impl<R, A, B> Observe<R> for ((), A, B) {
    #[inline(always)]
    fn observe(&self, _: &R, _: &mut Seen<'_>) {}
}

/// Reports an error with its type.
pub trait ErrorTypes<E> {
    /// Reports the error with its type and message.
    fn fail<B: Messages<E>>(error: &E, seen: &mut Seen<'_>);
}

impl<E: KnownError> ErrorTypes<E> for Typed {
    #[inline]
    fn fail<B: Messages<E>>(error: &E, seen: &mut Seen<'_>) {
        let own = if B::WANTED { error.message() } else { None };
        let message = own.as_ref().map(|own| own as &dyn Display).or_else(|| B::of(error));
        seen.fail(&ErrorInfo { error_type: error.known_type(), message });
    }
}

impl<E> ErrorTypes<E> for () {
    #[inline]
    fn fail<B: Messages<E>>(error: &E, seen: &mut Seen<'_>) {
        seen.fail(&ErrorInfo { error_type: type_name::<E>(), message: B::of(error) });
    }
}

/// Access to the message of an error.
pub trait Messages<E> {
    /// True if the message is to be recorded.
    const WANTED: bool = true;

    /// Returns the message, if there is one.
    fn of(_: &E) -> Option<&dyn Display> {
        None
    }
}

impl<E: Display> Messages<E> for Shown {
    #[inline]
    fn of(error: &E) -> Option<&dyn Display> {
        Some(error)
    }
}

impl<E> Messages<E> for () {}

impl<E> Messages<E> for Unwanted {
    const WANTED: bool = false;
}

/// Observes only the errors for which a closure returns true.
pub struct ErrorsIf<O, F>(O, F);

impl<T, E, O: Observe<Result<T, E>>, F: Fn(&E) -> bool> Observe<Result<T, E>> for ErrorsIf<O, F> {
    #[inline]
    fn observe(&self, result: &Result<T, E>, seen: &mut Seen<'_>) {
        if result.as_ref().is_err_and(&self.1) {
            self.0.observe(result, seen);
        }
    }
}

impl<T, E> Tag<Result<T, E>> {
    /// Creates an observer that ignores the errors for which the closure returns false.
    #[inline(always)]
    pub fn err_if<O, F: Fn(&E) -> bool>(&self, observer: O, is_error: F) -> ErrorsIf<O, F> {
        ErrorsIf(observer, is_error)
    }

    /// Creates an observer that derives attributes from the `Ok` value.
    #[inline(always)]
    pub fn attributes<F: Fn(&T, &mut End)>(&self, attributes: F) -> Attributes<OkValue, F> {
        Attributes(attributes, PhantomData)
    }

    /// Creates an observer that derives labels from the `Ok` value.
    #[inline(always)]
    pub fn labels<F: Fn(&T, &mut ResultLabels)>(&self, labels: F) -> LabelValues<OkValue, F> {
        LabelValues(labels, PhantomData)
    }
}

/// Never implemented: the bound only produces the compile error for `err_if` on a type that is not a `Result`. A `Result` has
/// its own `err_if`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so `err_if` has no error to examine",
    label = "expected a closure that takes the error of a `Result`",
    note = "remove `err_if`, or return a `Result`; for a future or stream, `err_if` examines the output or the items"
)]
pub trait IsResult {}

/// The value from which attributes and labels are derived.
pub trait ValueOf<R> {
    /// The type of the value.
    type Value;
    /// Returns the value, if there is one.
    fn value(result: &R) -> Option<&Self::Value>;
}

/// The `Ok` value of a `Result`.
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

/// Derives attributes from a value, if the span is recorded.
pub struct Attributes<V, F>(F, PhantomData<fn(&V)>);

impl<R, V: ValueOf<R>, F: Fn(&V::Value, &mut End)> Observe<R> for Attributes<V, F> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        if let (Some(end), Some(value)) = (&mut seen.end, V::value(result)) {
            (self.0)(value, end);
        }
    }
}

/// Derives labels from a value, if the call is measured.
pub struct LabelValues<V, F>(F, PhantomData<fn(&V)>);

impl<R, V: ValueOf<R>, F: Fn(&V::Value, &mut ResultLabels)> Observe<R> for LabelValues<V, F> {
    #[inline(always)]
    fn observe(&self, result: &R, seen: &mut Seen<'_>) {
        if let (Some(verdict), Some(value)) = (&mut seen.verdict, V::value(result)) {
            (self.0)(value, &mut verdict.labels);
        }
    }
}

/// Calls a closure with a value, so that the type of its parameter is inferred.
#[inline(always)]
pub fn apply<'a, T: ?Sized, R>(value: &'a T, f: impl FnOnce(&'a T) -> R) -> R {
    f(value)
}

/// The output of a function type: a way to write the type `!`.
pub trait FnOutput {
    /// The return type.
    type Output;
}

impl<R> FnOutput for fn() -> R {
    type Output = R;
}
