//! Finds metrics that are declared twice with different shapes.

use std::collections::BTreeMap;
use std::fmt;

use super::Catalogue;
use crate::declare::metric::{Buckets, MetricKind, MetricMeta};

/// Two declarations of one metric with different shapes: kind, number type, unit, labels or buckets. The first one by crate,
/// file and line is used; the second is off, and `init` warns of the conflict, or fails if `TC_STRICT` is set.
///
/// ```
/// for conflict in tracecast::catalogue().conflicts() {
///     println!("{conflict}; see {}", conflict.second.location);
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conflict {
    /// The declaration that is used.
    pub first: &'static MetricMeta,
    /// A declaration with the same name and another shape, which is off.
    pub second: &'static MetricMeta,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (self.first, self.second);
        write!(
            f,
            "metric `{}` is declared twice with different shapes: {} at {}, and {} at {}",
            first.name,
            shape(first),
            first.location,
            shape(second),
            second.location
        )
    }
}

impl std::error::Error for Conflict {}

impl Catalogue {
    /// Returns the declarations of metrics whose shape differs from the first declaration of the same name, each with
    /// that first declaration, which is used.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// tc_metrics! {
    ///     /// Files that were lost.
    ///     static LOST: Counter = "tc_example_lost_total";
    /// }
    ///
    /// let conflicts = tracecast::catalogue().conflicts();
    /// assert!(conflicts.iter().all(|conflict| conflict.first.name != LOST.declaration().name));
    /// ```
    pub fn conflicts(&self) -> Vec<Conflict> {
        let pairs = conflicting(self.metrics.iter().copied(), |metric| metric);
        pairs.into_iter().map(|(first, second)| Conflict { first, second }).collect()
    }
}

/// Returns each declaration whose shape differs from the first declaration of its name, as the second of a pair with that
/// first declaration.
pub(crate) fn conflicting<T: Copy>(
    metrics: impl IntoIterator<Item = T>,
    meta: impl Fn(T) -> &'static MetricMeta,
) -> Vec<(T, T)> {
    let mut first_of = BTreeMap::new();
    let of_its_name = |metric| (*first_of.entry(meta(metric).name).or_insert(metric), metric);
    let pairs = metrics.into_iter().map(of_its_name);
    pairs.filter(|(first, second)| !meta(*first).same_shape(meta(*second))).collect()
}

/// Returns a text with the kind, number type, unit, labels and buckets of a metric.
pub(super) fn shape(metric: &MetricMeta) -> String {
    let dimensions = metric.dimensions();
    let labels: Vec<_> = dimensions.iter().map(|label| format!("{}({})", label.name, label.cardinality)).collect();
    let unit = if metric.unit.is_empty() { "no unit" } else { metric.unit };
    let buckets = match (metric.kind, metric.buckets) {
        (MetricKind::Histogram, Buckets::Explicit(bounds)) => format!(" over {} buckets", bounds.len() + 1),
        (MetricKind::Histogram, Buckets::Exponential) => " over exponential buckets".to_owned(),
        _ => String::new(),
    };
    let observable = if metric.observable { "observable " } else { "" };
    let (kind, number) = (metric.kind, metric.number);
    format!("{observable}{kind:?} of {number:?} in {unit} by [{}]{buckets}", labels.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::keys::tensor::source;
    use crate::meter::instrument::{Counter, Gauge};

    static ONE: MetricMeta = Counter::<(source,)>::meta("tc_loads_total", "", "");
    static SAME: MetricMeta = Counter::<(source,)>::meta("tc_loads_total", "", "Other words.");
    static OTHER: MetricMeta = Gauge::<()>::meta("tc_loads_total", "By", "");

    #[test]
    fn a_metric_declared_twice_with_different_shapes_is_found() {
        let catalogue =
            |metrics: &[&'static MetricMeta]| Catalogue { spans: vec![], keys: vec![], metrics: metrics.to_vec() };
        assert!(catalogue(&[&ONE, &SAME]).conflicts().is_empty());
        let conflicts = catalogue(&[&ONE, &SAME, &OTHER]).conflicts();
        let text = conflicts.iter().map(Conflict::to_string).collect::<String>();
        let expected = format!(
            "metric `tc_loads_total` is declared twice with different shapes: Counter of U64 in no unit by [tc.source.type(2)] at {}, and Gauge of F64 in By by [] at {}",
            ONE.location, OTHER.location
        );
        assert_eq!(text, expected);
    }
}
