//! What a result says about its call.

use std::marker::PhantomData;

use crate::error::TcError;
use crate::key::LabelKey;
use crate::label::Label;
use crate::metric::{Labels, appended, ordinal};
use crate::value::IntoValue;

/// What a result says: whether it is an error, of which type, and the labels that come from it.
#[derive(Debug, Default)]
pub struct Verdict {
    pub(super) failed: bool,
    pub(super) error_type: Option<&'static str>,
    labels: Option<usize>,
}

impl Verdict {
    /// One more label from the result. Each has one value more than its key: `none`, the last.
    #[inline]
    pub fn label<K: LabelKey>(&mut self, value: impl IntoValue<K::Value>)
    where
        K::Value: Label,
    {
        let cardinality = <K::Value as Label>::CARDINALITY + 1;
        self.labels = Some(appended(self.labels.unwrap_or(0), ordinal::<K>(value), cardinality));
    }

    /// Which of the `results` sets of values it has; the last one, without a result.
    pub(super) fn index(&self, results: usize) -> usize {
        self.labels.unwrap_or(results - 1)
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
