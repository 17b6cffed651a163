//! Metrics of raw OpenTelemetry instruments, as plain data: they travel beside ours and are shown in the same ways.

use std::fmt;
use std::sync::Arc;

use super::{PointValue, Snapshot, Temporality, write_line};
use crate::declare::metric::MetricKind;
use crate::declare::value::OwnedValue;

/// The points of one raw OpenTelemetry instrument, or of one stream that a view made of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ForeignMetric {
    /// Whose it is.
    pub scope: Arc<ForeignScope>,
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Its unit.
    pub unit: String,
    /// What became of its measurements. A sum that only grows is a counter.
    pub kind: MetricKind,
    /// What sums and histograms count from: never [`Temporality::LowMemory`].
    pub temporality: Temporality,
    /// When they began to count, as nanoseconds since 1970. A gauge may have none.
    pub start_unix_nanos: Option<u64>,
    /// When this was read.
    pub time_unix_nanos: u64,
    /// A point for each set of attributes.
    pub points: Vec<ForeignPoint>,
}

/// What instruments belong to: a library, and what it says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForeignScope {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The schema of its names.
    pub schema_url: Option<String>,
    /// What else it says.
    pub attributes: Vec<(String, OwnedValue)>,
}

/// One series at one moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ForeignPoint {
    /// Its attributes. Series above the limit are together in one that has `otel.metric.overflow`.
    pub attributes: Vec<(String, OwnedValue)>,
    /// Its value.
    pub value: PointValue,
}

impl Snapshot {
    /// The points of the raw OpenTelemetry instrument with this name; of several the first.
    pub fn foreign_metric(&self, name: &str) -> Option<&ForeignMetric> {
        self.foreign.iter().find(|metric| metric.name == name)
    }

    /// How many points there are, of both kinds.
    pub(crate) fn points(&self) -> u64 {
        let ours = self.metrics.iter().map(|metric| metric.points.len());
        ours.chain(self.foreign.iter().map(|metric| metric.points.len())).map(|points| points as u64).sum()
    }
}

impl ForeignMetric {
    /// The value of the point with these attributes, in any order, each as it prints.
    pub fn value(&self, attributes: &[(&str, &str)]) -> Option<&PointValue> {
        let has = |point: &&ForeignPoint| {
            point.attributes.len() == attributes.len()
                && attributes.iter().all(|(name, text)| {
                    point.attributes.iter().any(|(key, value)| key == name && value.to_string() == *text)
                })
        };
        self.points.iter().find(has).map(|point| &point.value)
    }
}

impl fmt::Display for ForeignMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.points.iter().try_for_each(|point| {
            let texts: Vec<_> = point.attributes.iter().map(|(name, value)| (name, value.to_string())).collect();
            write_line(f, &self.name, &texts, &point.value)
        })
    }
}
