//! Lists the spans, keys and metrics that are linked into the program.

use super::Catalogue;
use crate::declare::cells::Metric;
use crate::declare::registry;

/// Lists the spans, keys and metrics that are linked into this program.
///
/// On targets without link sections (wasm), only those that were used so far are listed.
///
/// ```
/// for metric in tracecast::catalogue().metrics {
///     println!("{} has at most {} series", metric.name, metric.series());
/// }
/// ```
pub fn catalogue() -> Catalogue {
    let mut spans: Vec<_> = registry::callsites().filter(|callsite| !callsite.name().is_empty()).collect();
    spans.sort_by_key(|callsite| (callsite.name(), callsite.file(), callsite.line()));
    let mut keys = registry::keys();
    keys.sort_by_key(|key| (key.name, key.location.file(), key.location.line()));
    Catalogue { spans, keys, metrics: metrics().into_iter().map(Metric::meta).collect() }
}

/// Returns all metrics, sorted by name, crate, file and line.
pub(crate) fn metrics() -> Vec<&'static Metric> {
    let mut metrics: Vec<_> = registry::metrics().collect();
    metrics.sort_by(|one, other| (one.meta().name, one.place()).cmp(&(other.meta().name, other.place())));
    metrics
}
