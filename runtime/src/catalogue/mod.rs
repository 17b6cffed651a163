//! The catalogue: every span, key and metric of the program, with its place.
//!
//! Libraries have it as Markdown. `listing` has what needs JSON (reading, writing, comparing, the dashboard), with the feature
//! `otlp`.

mod conflict;
#[cfg(feature = "otlp")]
mod listing;
mod markdown;

use crate::declare::callsite::{Callsite, Kind};
use crate::declare::cells::Metric;
use crate::declare::key::KeyMeta;
use crate::declare::metric::MetricMeta;
use crate::declare::registry;

pub use self::conflict::Conflict;
#[cfg(feature = "otlp")]
pub use self::listing::{CatalogueData, CatalogueDataError, Comparison};

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

/// What a program can emit.
///
/// ```
/// let catalogue = tracecast::catalogue();
/// let key = catalogue.keys.iter().find(|key| key.name == "tc.source.type");
/// assert!(key.is_some_and(|key| key.cardinality == Some(2)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Catalogue {
    /// Its spans, by name.
    pub(crate) spans: Vec<&'static Callsite>,
    /// Its keys, by name.
    pub keys: Vec<&'static KeyMeta>,
    /// Its metrics, by name.
    pub metrics: Vec<&'static MetricMeta>,
}

/// A span that a program can make.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpanMeta {
    /// `Component/Operation`.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The keys of its attributes.
    pub keys: &'static [&'static KeyMeta],
    /// The file that declares it.
    pub file: &'static str,
    /// The line of the declaration.
    pub line: u32,
    /// The crate that declares it.
    pub crate_name: &'static str,
    /// The version of that crate.
    pub crate_version: &'static str,
}

impl Catalogue {
    /// Its spans, by name.
    ///
    /// ```
    /// for span in tracecast::catalogue().spans() {
    ///     println!("{} at {}:{} of {}", span.name, span.file, span.line, span.crate_name);
    /// }
    /// ```
    pub fn spans(&self) -> impl Iterator<Item = SpanMeta> {
        self.spans.iter().map(|callsite| SpanMeta {
            name: callsite.name(),
            kind: callsite.kind(),
            keys: callsite.declared_keys(),
            file: callsite.file(),
            line: callsite.line(),
            crate_name: callsite.crate_name(),
            crate_version: callsite.crate_version(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_keys_are_listed_with_their_place() {
        if !crate::declare::sections::LINKED {
            return;
        }
        let catalogue = catalogue();
        let source = catalogue.keys.iter().find(|key| key.name == "tc.source.type").unwrap();
        assert_eq!(source.cardinality, Some(2));
        assert!(source.location.file().ends_with("keys.rs"), "{}", source.location);
        let replica = catalogue.keys.iter().find(|key| key.name == "tc.replica.id").unwrap();
        assert!(replica.location.line() < source.location.line(), "each key has a line of its own");
        assert!(catalogue.to_markdown().contains("| `tc.source.type` | Label | 2 | Where the bytes come from. |"));
    }
}
