//! What is known of a metric at compile time: its name and its shape, as the catalogue lists them.

use std::panic::Location;

use crate::key::KeyMeta;

/// What a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A sum that only grows.
    Counter,
    /// A sum that grows and shrinks.
    UpDownCounter,
    /// The last value.
    Gauge,
    /// A distribution over buckets.
    Histogram,
}

/// The declaration of one metric.
#[derive(Debug)]
pub struct MetricMeta {
    /// Its name.
    pub name: &'static str,
    /// What it measures.
    pub kind: MetricKind,
    /// Its unit, in UCUM, or nothing.
    pub unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static KeyMeta],
    /// How many series a set of label values has: 1, or the buckets of a histogram with sum and count.
    pub series_per_set: usize,
    /// Where it was declared.
    pub location: &'static Location<'static>,
}

impl MetricMeta {
    /// A metric declared at the place of the call.
    #[track_caller]
    pub const fn new(
        name: &'static str,
        kind: MetricKind,
        unit: &'static str,
        labels: &'static [&'static KeyMeta],
    ) -> Self {
        MetricMeta { name, kind, unit, labels, series_per_set: 1, location: Location::caller() }
    }

    /// The number of series it can have at most.
    pub fn series(&self) -> usize {
        let sets = self.labels.iter().map(|key| key.cardinality.unwrap_or(1)).product::<usize>();
        sets * self.series_per_set
    }

    /// Whether two declarations of a name mean the same metric.
    pub(crate) fn same_shape(&self, other: &MetricMeta) -> bool {
        let labels = |meta: &MetricMeta| meta.labels.iter().map(|key| (key.name, key.cardinality)).collect::<Vec<_>>();
        self.kind == other.kind
            && self.unit == other.unit
            && self.series_per_set == other.series_per_set
            && labels(self) == labels(other)
    }
}
