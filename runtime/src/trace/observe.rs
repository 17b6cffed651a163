//! What a result says about its call, told by its type, whatever that is called in the source.
//!
//! `(Tag::<R>::ERRORS, Tag::<R>::TYPES, Tag::<R>::MESSAGES)` observes an `R`: each constant is inherent where it says something, else
//! that of the trait `Otherwise`. Paths are used and not methods that are found through `Deref`, because the compiler
//! resolves them several times faster.

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

/// The type of a result. What is known of it are associated constants: those of the `impl` blocks of [`Tag`] that apply, else those of
/// [`Otherwise`], because the compiler prefers what is inherent. Each constant has a type of its own.
pub struct Tag<R>(PhantomData<fn(&R)>);

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

/// What holds of a type if nothing more special does.
pub trait Otherwise<R>: Sized {
    /// It is no `Result`.
    const ERRORS: () = ();
    /// Its errors have only the name of their type.
    const TYPES: () = ();
    /// Its errors have no message.
    const MESSAGES: () = ();
    /// It is no boxed future or stream.
    const COVER: () = ();

    /// It is no future that would have to be refused.
    #[inline(always)]
    fn future() {}

    /// [`ERRORS`](Self::ERRORS) of a type without a name.
    #[inline(always)]
    fn errors(&self) {}

    /// [`TYPES`](Self::TYPES) of a type without a name.
    #[inline(always)]
    fn types(&self) {}

    /// [`MESSAGES`](Self::MESSAGES) of a type without a name.
    #[inline(always)]
    fn messages(&self) {}

    /// The tag of what a result gives in the end: its own.
    #[inline(always)]
    fn given(&self) -> Tag<R> {
        Tag::NEW
    }

    /// Makes attributes of the value.
    #[inline(always)]
    fn attributes<F: Fn(&R, &mut End)>(&self, attributes: F) -> Attributes<Itself, F> {
        Attributes(attributes, PhantomData)
    }

    /// Makes labels of the value.
    #[inline(always)]
    fn labels<F: Fn(&R, &mut ResultLabels)>(&self, labels: F) -> LabelValues<Itself, F> {
        LabelValues(labels, PhantomData)
    }

    /// Refuses a closure where there are no errors.
    fn err_if<O, F>(&self, observer: O, _: F) -> O
    where
        R: IsResult,
    {
        observer
    }
}

impl<R> Otherwise<R> for Tag<R> {}

/// The constant of a `Result`, or of a boxed future or stream that gives one.
pub struct Errors;

/// The constant of those whose error tells its type.
pub struct Typed;

/// The constant of those whose error can be shown.
pub struct Shown;

/// Stands for `Shown` where messages are not wanted.
pub struct Unwanted;

/// A `Result`, or a boxed future or stream that gives one.
pub trait Fallible {
    /// The type of its errors.
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

// By a trait and not for each type: the compiler looks at every `impl` block of `Tag` that has a constant of this name.
impl<R: Fallible> Tag<R> {
    /// It may be an error.
    pub const ERRORS: Errors = Errors;

    /// The same for a type without a name.
    #[inline(always)]
    pub fn errors(&self) -> Errors {
        Errors
    }
}

impl<R: Fallible<Error: KnownError>> Tag<R> {
    /// Its errors tell their type.
    pub const TYPES: Typed = Typed;

    /// The same for a type without a name.
    #[inline(always)]
    pub fn types(&self) -> Typed {
        Typed
    }
}

impl<R: Fallible<Error: Display>> Tag<R> {
    /// Its errors can be shown.
    pub const MESSAGES: Shown = Shown;

    /// The same for a type without a name.
    #[inline(always)]
    pub fn messages(&self) -> Shown {
        Shown
    }
}

/// Observes errors by the three constants of a type.
impl<T, E, A: ErrorTypes<E>, B: Messages<E>> Observe<Result<T, E>> for (Errors, A, B) {
    #[inline]
    fn observe(&self, result: &Result<T, E>, seen: &mut Seen<'_>) {
        if let Err(error) = result {
            A::fail::<B>(error, seen);
        }
    }
}

/// There are no errors.
impl<R, A, B> Observe<R> for ((), A, B) {
    #[inline(always)]
    fn observe(&self, _: &R, _: &mut Seen<'_>) {}
}

/// Reports an error by its type.
pub trait ErrorTypes<E> {
    /// Reports it with its message.
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

/// The message of an error.
pub trait Messages<E> {
    /// Whether it is to be recorded.
    const WANTED: bool = true;

    /// The message, if there is one.
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

impl<T, E> Tag<Result<T, E>> {
    /// Leaves out the errors for which the closure is false.
    #[inline(always)]
    pub fn err_if<O, F: Fn(&E) -> bool>(&self, observer: O, is_error: F) -> ErrorsIf<O, F> {
        ErrorsIf(observer, is_error)
    }

    /// Makes attributes of the value that is no error.
    #[inline(always)]
    pub fn attributes<F: Fn(&T, &mut End)>(&self, attributes: F) -> Attributes<OkValue, F> {
        Attributes(attributes, PhantomData)
    }

    /// Makes labels of the value that is no error.
    #[inline(always)]
    pub fn labels<F: Fn(&T, &mut ResultLabels)>(&self, labels: F) -> LabelValues<OkValue, F> {
        LabelValues(labels, PhantomData)
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
