//! Lists what was linked into the program.

use super::Catalogue;
use crate::declare::cells::Metric;
use crate::declare::registry;

/// Lists what was linked into this program.
///
/// Where there are no link sections (wasm) it lists what was used so far.
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
    let mut metrics: Vec<_> = registry::metrics().map(Metric::meta).collect();
    metrics.sort_by_key(|metric| (metric.name, metric.location.file(), metric.location.line()));
    Catalogue { spans, keys, metrics }
}
