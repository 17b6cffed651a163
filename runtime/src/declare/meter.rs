//! The metrics of an annotated function, and the index of the labels that come from its result.

use crate::declare::cells::Metric;
use crate::declare::key::{Key, LabelKey};
use crate::declare::label::Label;
use crate::declare::metric::{LabelSet, OrNone, appended, ordinal};
use crate::declare::value::IntoValue;

/// The metrics of a function.
#[derive(Debug)]
pub struct Meter {
    pub(crate) calls: Option<&'static Metric>,
    pub(crate) errors: Option<&'static Metric>,
    pub(crate) duration: Option<&'static Metric>,
    pub(crate) in_flight: Option<&'static Metric>,
    pub(crate) first_item: Option<&'static Metric>,
    pub(crate) per_item: Option<&'static Metric>,
    pub(crate) items: Option<&'static Metric>,
    /// The number of label sets of the labels that come from the result; 1 without such labels. `no_result` is the label set of
    /// calls without a result.
    pub(crate) results: u32,
    pub(crate) no_result: u32,
}

macro_rules! asked_for {
    ($($(#[$doc:meta])* $metric:ident),+) => {
        $(
            $(#[$doc])*
            pub const fn $metric(mut self, metric: &'static Metric) -> Self {
                self.$metric = Some(metric);
                self
            }
        )+

        /// Returns all metrics of the function.
        pub(crate) fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
            [$(self.$metric),+].into_iter().flatten()
        }
    };
}

impl Meter {
    /// Creates a meter without metrics.
    #[expect(clippy::new_without_default, reason = "generated code makes it in a constant")]
    pub const fn new() -> Self {
        Meter {
            calls: None,
            errors: None,
            duration: None,
            in_flight: None,
            first_item: None,
            per_item: None,
            items: None,
            results: 1,
            no_result: 0,
        }
    }

    asked_for! {
        /// Sets the counter of calls, by outcome.
        calls,
        /// Sets the counter of failed calls.
        errors,
        /// Sets the histogram of durations.
        duration,
        /// Sets the number of calls in progress.
        in_flight,
        /// Sets the histogram of times until the first item of a stream.
        first_item,
        /// Sets the histogram of times between two items.
        per_item,
        /// Sets the counter of items.
        items
    }

    /// Sets the labels that come from the result.
    pub const fn results<L: LabelSet>(mut self) -> Self {
        // More label sets exceed any budget.
        assert!(L::CARDINALITY <= u32::MAX as usize);
        self.results = L::CARDINALITY as u32;
        self.no_result = L::MISSING as u32;
        self
    }

    /// Returns whether the time since the start of a call is measured: at its end, or at the first item of a stream.
    pub(crate) fn times_calls(&self) -> bool {
        self.duration.is_some() || self.first_item.is_some()
    }

    /// Returns whether the times of a stream's items are measured.
    pub(crate) fn times_items(&self) -> bool {
        self.first_item.is_some() || self.per_item.is_some()
    }
}

/// The index of the labels that come from the result; `None` until the first label is added.
#[derive(Debug, Default)]
pub struct ResultLabels(Option<usize>);

impl ResultLabels {
    /// Returns the index, or `u32::MAX` if the index is out of range; `None` until the first label is added.
    #[inline(always)]
    pub(crate) fn index(&self) -> Option<u32> {
        self.0.map(|index| u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Adds a label, whose value may be `none`.
    #[inline]
    pub fn label<K: LabelKey>(&mut self, value: impl IntoValue<K::Value>)
    where
        K::Value: Label,
    {
        let cardinality = <<OrNone<K> as Key>::Value as Label>::CARDINALITY;
        self.0 = Some(appended(self.0.unwrap_or(0), ordinal::<K>(value), cardinality));
    }
}
