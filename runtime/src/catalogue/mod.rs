//! The catalogue: every span, key and metric of the program, with its source location.
//! [`catalogue()`](crate::catalogue()) lists them.
//!
//! A catalogue can be printed as Markdown. With the feature `otlp` it can also be written and read as JSON, compared with an
//! older catalogue, and converted to a Grafana dashboard.
//!
//! ```
//! for metric in tracecast::catalogue().metrics {
//!     println!("{} has at most {} series", metric.name, metric.series());
//! }
//! ```

pub(crate) mod conflict;
pub(crate) mod list;
#[cfg(feature = "otlp")]
mod listing;
mod markdown;

use crate::declare::callsite::{Callsite, Kind};

pub use self::conflict::Conflict;
#[cfg(feature = "otlp")]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub use self::listing::{CatalogueData, CatalogueDataError, Comparison, handle_arguments};
pub use crate::declare::key::{KeyKind, KeyMeta, ValueType};
pub use crate::declare::metric::{Buckets, MetricKind, MetricMeta, NumberType};

/// The telemetry that a program can emit.
///
/// ```
/// let catalogue = tracecast::catalogue();
/// let key = catalogue.keys.iter().find(|key| key.name == "tc.source.type");
/// assert!(key.is_some_and(|key| key.cardinality == Some(2)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Catalogue {
    /// The spans, sorted by name.
    pub(crate) spans: Vec<&'static Callsite>,
    /// The keys, sorted by name.
    pub keys: Vec<&'static KeyMeta>,
    /// The metrics, sorted by name.
    pub metrics: Vec<&'static MetricMeta>,
}

/// A span that a program can create.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpanMeta {
    /// The name, `Component/Operation`.
    pub name: &'static str,
    /// The kind.
    pub kind: Kind,
    /// The keys of the attributes.
    pub keys: &'static [&'static KeyMeta],
    /// The file that declares the span.
    pub file: &'static str,
    /// The line of the declaration.
    pub line: u32,
    /// The crate that declares the span.
    pub crate_name: &'static str,
    /// The version of that crate.
    pub crate_version: &'static str,
}

impl Catalogue {
    /// The spans, sorted by name.
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
    use super::list::catalogue;

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
