//! The catalogue as plain data without source locations: the same program gives the same data wherever it was built,
//! and moving code does not change it.

mod arguments;
mod compare;
mod format;
mod grafana;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::arguments::handle_arguments;
pub use self::compare::Comparison;
pub use self::format::CatalogueDataError;

use self::format::words;
use super::Catalogue;
use crate::declare::callsite::{Callsite, Kind};
use crate::declare::key::{KeyKind, KeyMeta, ValueType};
use crate::declare::metric::{Buckets, MetricKind, MetricMeta, NumberType};

/// The largest number of values of a label whose texts are listed. Of labels with more values, only the number is listed.
const TEXTS: usize = 64;

#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
impl Catalogue {
    /// Returns the catalogue as plain data without source locations, which can be written as JSON and compared with the
    /// data of another version.
    ///
    /// ```
    /// let json = tracecast::catalogue().data().to_json();
    /// assert!(json.starts_with("{\n  \"tracecast_catalogue\": 1,\n"));
    /// ```
    pub fn data(&self) -> CatalogueData {
        CatalogueData::of(self)
    }
}

/// A catalogue as plain data: of this program, of another one, or of an earlier version.
///
/// ```
/// use tracecast::catalogue::CatalogueData;
///
/// let data = tracecast::catalogue().data();
/// let read: CatalogueData = CatalogueData::from_json(&data.to_json())?;
/// assert_eq!(read, data);
/// # Ok::<(), tracecast::catalogue::CatalogueDataError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CatalogueData {
    spans: Vec<Span>,
    keys: Vec<Key>,
    metrics: Vec<Metric>,
}

/// All spans of one name and kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Span {
    name: String,
    #[serde(with = "words")]
    kind: Kind,
    keys: Vec<String>,
    /// The crates that declare the span, with their versions. Comparisons ignore the crates.
    #[serde(default)]
    crates: Vec<String>,
    /// The number of functions and scopes that create the span.
    #[serde(default = "one_place")]
    places: usize,
}

/// The default of `places`, for catalogues that were written without it.
fn one_place() -> usize {
    1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    name: String,
    #[serde(with = "words")]
    kind: KeyKind,
    #[serde(rename = "type", with = "words")]
    value_type: ValueType,
    /// The number of values of a label.
    values: Option<u64>,
    baggage: bool,
    description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metric {
    name: String,
    /// The name under which Prometheus stores the metric.
    prometheus: String,
    /// The component whose function the metric measures; for other metrics the result of `group`.
    group: String,
    #[serde(with = "words")]
    kind: MetricKind,
    #[serde(with = "words")]
    number: NumberType,
    unit: String,
    labels: Vec<Label>,
    buckets: Bounds,
    series: u64,
    budget: u64,
    description: String,
    /// The crates that declare the metric, with their versions. Comparisons ignore the crates.
    #[serde(default)]
    crates: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    /// The attributes that represent the label in OTLP: one, or several if the label has joint values of several attributes.
    attributes: Vec<String>,
    values: u64,
    /// The texts of the values; empty if there are more than `TEXTS`, if the program learns them at run time, or if the label
    /// has several attributes.
    texts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected null, `exponential` or a list of numbers")]
enum Bounds {
    /// The metric is not a histogram.
    None,
    Explicit(Vec<f64>),
    Rule(Rule),
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bounds::None => f.write_str("none"),
            Bounds::Explicit(bounds) => write!(f, "{bounds:?}"),
            Bounds::Rule(Rule::Exponential) => f.write_str("exponential"),
        }
    }
}

/// A rule that defines buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    Exponential,
}

impl CatalogueData {
    fn of(catalogue: &Catalogue) -> Self {
        let components = components(catalogue);
        let mut keys: Vec<Key> = catalogue.keys.iter().map(|key| Key::of(key)).collect();
        keys.sort_by(|a, b| a.order().cmp(&b.order()));
        // Declarations of one key with different descriptions are merged.
        keys.dedup_by(|b, a| a.same_shape(b));
        let metric = |meta: &&'static MetricMeta| Metric::of(meta, components.get(meta.name).copied());
        let mut metrics: Vec<Metric> = catalogue.metrics.iter().map(metric).collect();
        // Declarations of one name are listed as one metric, with the shape of the first, which is exported.
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
        metrics.dedup_by(|b, a| a.name == b.name && a.join(b));
        CatalogueData { spans: spans(catalogue), keys, metrics }
    }

    /// Removes the metrics whose names `keep` does not accept, for example to create a dashboard of some metrics.
    ///
    /// ```
    /// let data = tracecast::catalogue().data().with_metrics(|name| name.starts_with("tc_export_"));
    /// assert!(!data.to_grafana("Exports").contains("tc_spool_bytes"));
    /// ```
    #[must_use]
    pub fn with_metrics(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.metrics.retain(|metric| keep(&metric.name));
        self
    }

    /// Returns the largest number of series of all metrics together.
    fn series(&self) -> u64 {
        self.metrics.iter().fold(0, |sum, metric| sum.saturating_add(metric.series))
    }
}

/// Returns one span for each name and kind, with the keys of all places that create it.
fn spans(catalogue: &Catalogue) -> Vec<Span> {
    let mut all: BTreeMap<(&str, u8), Vec<&Callsite>> = BTreeMap::new();
    for span in &catalogue.spans {
        all.entry((span.name(), span.kind() as u8)).or_default().push(span);
    }
    let owned = |texts: BTreeSet<&str>| texts.into_iter().map(str::to_owned).collect();
    let span = |same: Vec<&Callsite>| {
        let keys = same.iter().flat_map(|span| span.declared_keys()).map(|key| key.name).collect();
        let crates: BTreeSet<_> =
            same.iter().map(|span| format!("{} {}", span.crate_name(), span.crate_version())).collect();
        let places: BTreeSet<_> = same.iter().map(|span| (span.crate_name(), span.file(), span.line())).collect();
        Span {
            name: same[0].name().to_owned(),
            kind: same[0].kind(),
            keys: owned(keys),
            crates: crates.into_iter().collect(),
            places: places.len(),
        }
    };
    all.into_values().map(span).collect()
}

/// Returns the component of the measured function for each metric of `tc_metric`, by the metric's name.
fn components(catalogue: &Catalogue) -> BTreeMap<&'static str, &'static str> {
    let mut components = BTreeMap::new();
    for span in &catalogue.spans {
        let Some((component, _)) = span.name().split_once('/') else { continue };
        let metrics = span.metrics().into_iter().flat_map(|meter| meter.metrics());
        components.extend(metrics.map(|metric| (metric.meta().name, component)));
    }
    components
}

impl Key {
    fn of(key: &KeyMeta) -> Self {
        Key {
            name: key.name.to_owned(),
            kind: key.kind,
            value_type: key.value_type,
            values: key.cardinality.map(|values| values as u64),
            baggage: key.baggage,
            description: key.description.trim().to_owned(),
        }
    }

    fn shape(&self) -> (&str, u8, u8, Option<u64>, bool) {
        (&self.name, self.kind as u8, self.value_type as u8, self.values, self.baggage)
    }

    fn same_shape(&self, other: &Key) -> bool {
        self.shape() == other.shape()
    }

    fn order(&self) -> impl Ord + '_ {
        (self.shape(), &self.description)
    }
}

impl Metric {
    fn of(meta: &MetricMeta, component: Option<&str>) -> Self {
        Metric {
            name: meta.name.to_owned(),
            prometheus: meta.prometheus_name(),
            group: component.map_or_else(|| group(meta), str::to_owned),
            kind: meta.kind,
            number: meta.number,
            unit: meta.unit.to_owned(),
            labels: labels(meta),
            buckets: match (meta.kind, meta.buckets) {
                (MetricKind::Histogram, Buckets::Explicit(bounds)) => Bounds::Explicit(finite(bounds)),
                (MetricKind::Histogram, Buckets::Exponential) => Bounds::Rule(Rule::Exponential),
                _ => Bounds::None,
            },
            series: meta.series() as u64,
            budget: meta.budget as u64,
            description: meta.description.trim().to_owned(),
            crates: vec![format!("{} {}", meta.crate_name, meta.crate_version)],
        }
    }

    /// Adds the crates of another declaration of the same name. Returns true, so that `dedup_by` removes that declaration.
    fn join(&mut self, other: &mut Metric) -> bool {
        self.crates.append(&mut other.crates);
        self.crates.sort();
        self.crates.dedup();
        true
    }

    /// Returns the names of the metric's attributes.
    fn attributes(&self) -> impl Iterator<Item = &str> + Clone {
        self.labels.iter().flat_map(|label| label.attributes.iter().map(String::as_str))
    }
}

fn labels(meta: &MetricMeta) -> Vec<Label> {
    let mut keys = meta.labels.iter();
    let label = |dimension: &crate::declare::metric::Dimension| {
        let key = keys.next();
        let attributes: Vec<String> = match key {
            Some(key) if key.is_joint() => key.parts.iter().map(|&name| name.to_owned()).collect(),
            Some(key) => vec![key.name.to_owned()],
            None => vec![dimension.name.to_owned()],
        };
        let is_known = key.is_none_or(|key| !key.learnt) && attributes.len() == 1;
        let listed = if is_known && dimension.cardinality <= TEXTS { dimension.cardinality } else { 0 };
        let texts = (0..listed).filter(|ordinal| !dimension.is_none(*ordinal));
        let texts = texts.map(|ordinal| dimension.text(ordinal).into_owned()).collect();
        Label { attributes, values: dimension.cardinality as u64, texts }
    };
    meta.dimensions().iter().map(label).collect()
}

/// Returns the group of a metric that does not measure a function: `telemetry` for those about telemetry itself, the first
/// word of a name with dots, as in the semantic conventions, and otherwise the word after the prefix.
fn group(meta: &MetricMeta) -> String {
    if is_own(meta.location.file()) {
        return "telemetry".to_owned();
    }
    let mut words = meta.name.split(['.', '_']);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    if meta.name.contains('.') { first } else { second.unwrap_or(first) }.to_owned()
}

/// Returns whether a metric that is declared in this file is about telemetry itself.
fn is_own(file: &str) -> bool {
    let here = file!().rsplitn(4, ['/', '\\']).last().unwrap_or_default();
    file.strip_prefix(here).is_some_and(|file| matches!(file, "/export/self_metrics.rs" | "\\export\\self_metrics.rs"))
}

/// Returns the bounds that JSON can represent.
fn finite(bounds: &[f64]) -> Vec<f64> {
    bounds.iter().copied().filter(|bound| bound.is_finite()).collect()
}
