//! What a result says about its call.

use std::marker::PhantomData;

use crate::declare::key::{Key, LabelKey};
use crate::declare::label::Label;
use crate::declare::metric::{Labels, OrNone, appended, ordinal};
use crate::declare::value::IntoValue;
use crate::trace::error::TcError;

/// What a result says: whether it is an error, of which type, and the labels that come from it.
#[derive(Debug, Default)]
pub struct Verdict {
    pub(super) failed: bool,
    pub(super) error_type: Option<&'static str>,
    /// The index of the labels that come from the result, if there is one.
    pub(super) labels: Option<usize>,
}

impl Verdict {
    /// One more label from the result. Each has `none` among its values.
    #[inline]
    pub fn label<K: LabelKey>(&mut self, value: impl IntoValue<K::Value>)
    where
        K::Value: Label,
    {
        let cardinality = <<OrNone<K> as Key>::Value as Label>::CARDINALITY;
        self.labels = Some(appended(self.labels.unwrap_or(0), ordinal::<K>(value), cardinality));
    }
}

/// Sees nothing.
#[inline(always)]
pub fn unjudged<T: ?Sized>(_: &T, _: &mut Verdict) {}

/// Has the compiler check labels that are compiled out.
pub fn check_labels(_: impl FnOnce() -> Labels) {}

/// The types of the errors of a `Result` type.
pub struct ErrorSet<T>(PhantomData<fn() -> T>);

impl<T, E: TcError> ErrorSet<Result<T, E>> {
    /// Those that were derived.
    pub const TYPES: &'static [&'static str] = E::TYPES;
}

/// The types of the errors of any other type: none. The compiler takes what the type itself has first.
pub trait FallbackTypes {
    /// None.
    const TYPES: &'static [&'static str] = &[];
}

impl<T> FallbackTypes for ErrorSet<T> {}
