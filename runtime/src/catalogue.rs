//! The catalogue: every span, key and metric of the program, with its place.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use crate::callsite::Callsite;
use crate::cells::Metric;
use crate::key::KeyMeta;
use crate::metric::{Buckets, MetricKind, MetricMeta};
use crate::registry;

/// Lists what was linked into this program.
///
/// Where there are no link sections (wasm) it lists what was used so far.
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

/// One name that was declared in two ways.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conflict {
    /// One declaration.
    pub first: &'static MetricMeta,
    /// Another one of the same name, with another shape.
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
    /// Metrics that are declared twice with different shapes, each with the first declaration of its name.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut first_of = BTreeMap::new();
        let mut conflicts = Vec::new();
        for second in &self.metrics {
            let first = *first_of.entry(second.name).or_insert(*second);
            if !first.same_shape(second) {
                conflicts.push(Conflict { first, second });
            }
        }
        conflicts
    }

    /// The catalogue as Markdown: three tables.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.write_markdown(&mut text);
        text
    }

    fn write_markdown(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "## Spans\n\n| span | kind | keys | declared at |\n|---|---|---|---|")?;
        for span in &self.spans {
            let keys: Vec<_> = span.declared_keys().iter().map(|key| key.name).collect();
            let place = format_args!("{}:{}", span.file(), span.line());
            writeln!(text, "| `{}` | {:?} | {} | {place} |", span.name(), span.kind(), keys.join(", "))?;
        }
        writeln!(text, "\n## Keys\n\n| key | kind | values | meaning | declared at |\n|---|---|---|---|---|")?;
        for key in &self.keys {
            let values = key.cardinality.map_or_else(|| format!("{:?}", key.value_type), |values| values.to_string());
            let place = format_args!("{}:{}", key.location.file(), key.location.line());
            writeln!(text, "| `{}` | {:?} | {values} | {} | {place} |", key.name, key.kind, key.description.trim())?;
        }
        writeln!(
            text,
            "\n## Metrics\n\n| metric | shape | series at most | bytes per thread | bytes at most | meaning | declared at |\n|---|---|---|---|---|---|---|"
        )?;
        for metric in &self.metrics {
            let place = format_args!("{}:{}", metric.location.file(), metric.location.line());
            let (series, per_thread, bytes) = (metric.series(), metric.bytes_per_thread(), metric.bytes());
            let (name, shape, meaning) = (metric.name, shape(metric), metric.description.trim());
            writeln!(text, "| `{name}` | {shape} | {series} | {per_thread} | {bytes} | {meaning} | {place} |")?;
        }
        Ok(())
    }
}

fn shape(metric: &MetricMeta) -> String {
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
    use crate::instrument::{Counter, Gauge};
    use crate::keys::source;

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

    #[test]
    fn the_built_in_keys_are_listed_with_their_place() {
        if !crate::sections::LINKED {
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
