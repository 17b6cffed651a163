//! The catalogue: every span, key and metric of the program, with its place.

mod arguments;
mod compare;
mod conflict;
mod format;
mod grafana;
mod json;
mod listing;
mod markdown;
mod parse;

use crate::declare::callsite::Callsite;
use crate::declare::cells::Metric;
use crate::declare::key::KeyMeta;
use crate::declare::metric::MetricMeta;
use crate::declare::registry;

pub use self::compare::Comparison;
pub use self::conflict::Conflict;
pub use self::format::ListingError;
pub use self::listing::Listing;

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
    pub spans: Vec<&'static Callsite>,
    /// Its keys, by name.
    pub keys: Vec<&'static KeyMeta>,
    /// Its metrics, by name.
    pub metrics: Vec<&'static MetricMeta>,
}

impl Catalogue {
    /// The catalogue as plain data, without the places: to write as JSON, and to compare with that of another version.
    ///
    /// ```
    /// let listing = tracecast::catalogue().listing();
    /// assert_eq!(listing.to_json(), tracecast::catalogue().to_json());
    /// ```
    pub fn listing(&self) -> Listing {
        Listing::of(self)
    }

    /// The catalogue as JSON: the same text for the same program, wherever it was built. [`Listing::from_json`] reads it.
    ///
    /// ```
    /// let json = tracecast::catalogue().to_json();
    /// assert!(json.starts_with("{\n  \"tracecast_catalogue\": 1,\n"));
    /// ```
    pub fn to_json(&self) -> String {
        self.listing().to_json()
    }

    /// A dashboard with this title that Grafana can import: every metric in a panel of its own, in rows by component.
    ///
    /// ```
    /// let dashboard = tracecast::catalogue().to_grafana("Store");
    /// assert!(dashboard.contains("\"title\": \"Store\""));
    /// ```
    pub fn to_grafana(&self, title: &str) -> String {
        self.listing().to_grafana(title)
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
