//! What a catalogue says, without the places: the same program gives the same listing wherever it was built, and code that
//! was only moved gives the same one as before.

mod arguments;
mod compare;
mod format;
mod grafana;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::arguments::handle_arguments;
pub use self::compare::Comparison;
pub use self::format::CatalogueDataError;

use self::format::words;
use super::Catalogue;
use crate::declare::callsite::{Callsite, Kind};
use crate::declare::key::{KeyKind, KeyMeta, ValueType};
use crate::declare::metric::{Buckets, MetricKind, MetricMeta, NumberType};

/// Labels with more values than this are listed by their number alone.
const TEXTS: usize = 64;

#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
impl Catalogue {
    /// The catalogue as plain data, without the places: to write as JSON, and to compare with that of another version.
    ///
    /// ```
    /// let json = tracecast::catalogue().data().to_json();
    /// assert!(json.starts_with("{\n  \"tracecast_catalogue\": 1,\n"));
    /// ```
    pub fn data(&self) -> CatalogueData {
        CatalogueData::of(self)
    }
}

/// A catalogue as plain data: of this program or of another one, or of an earlier
/// version of it.
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

/// All spans of a name and kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Span {
    name: String,
    #[serde(with = "words")]
    kind: Kind,
    keys: Vec<String>,
    /// The crates that declare it, with their versions. A new version is no change.
    #[serde(default)]
    crates: Vec<String>,
    /// How many functions and scopes make it.
    #[serde(default = "one_place")]
    places: usize,
}

/// Of a span in a listing that has no number of places.
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
    /// How many values a label has.
    values: Option<u64>,
    baggage: bool,
    description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metric {
    name: String,
    /// Its name where Prometheus stores it.
    prometheus: String,
    /// The component whose function it measures, or the area that its name begins with.
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
    /// The crates that declare it, with their versions. A new version is no change.
    #[serde(default)]
    crates: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    /// The attributes that it is on the wire: one, or several that depend on each other.
    attributes: Vec<String>,
    values: u64,
    /// The values, where they are known before the program runs, and not too many.
    texts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected null, `exponential` or a list of numbers")]
enum Bounds {
    /// It is no histogram.
    None,
    Explicit(Vec<f64>),
    Rule(Rule),
}

/// A rule that buckets follow.
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
        // The same key, declared twice in other words, is one.
        keys.dedup_by(|b, a| a.same_shape(b));
        let metric = |meta: &&'static MetricMeta| Metric::of(meta, components.get(meta.name).copied());
        let mut metrics: Vec<Metric> = catalogue.metrics.iter().map(metric).collect();
        // Of several declarations the first is exported, whether the others have its shape or not.
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
        metrics.dedup_by(|b, a| a.name == b.name && a.join(b));
        CatalogueData { spans: spans(catalogue), keys, metrics }
    }

    /// The same listing with only those metrics whose names `keep` accepts: for a dashboard of a part of them.
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

    /// How many series all metrics can have together.
    fn series(&self) -> u64 {
        self.metrics.iter().fold(0, |sum, metric| sum.saturating_add(metric.series))
    }
}

/// One for each name and kind, with the keys of all places that make it.
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

/// The components of functions that have metrics.
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

    /// Takes over the crates of another declaration of the same name.
    fn join(&mut self, other: &mut Metric) -> bool {
        self.crates.append(&mut other.crates);
        self.crates.sort();
        self.crates.dedup();
        true
    }

    /// The names of its attributes.
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

/// The area that a name begins with: the first word of one of the semantic conventions, the second of ours.
fn group(meta: &MetricMeta) -> String {
    if is_own(meta.location.file()) {
        return "telemetry".to_owned();
    }
    let mut words = meta.name.split(['.', '_']);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    if meta.name.contains('.') { first } else { second.unwrap_or(first) }.to_owned()
}

/// Whether a metric is one about telemetry itself.
fn is_own(file: &str) -> bool {
    let here = file!().rsplitn(4, ['/', '\\']).last().unwrap_or_default();
    file.strip_prefix(here).is_some_and(|file| matches!(file, "/export/self_metrics.rs" | "\\export\\self_metrics.rs"))
}

/// Bounds that JSON can write.
fn finite(bounds: &[f64]) -> Vec<f64> {
    bounds.iter().copied().filter(|bound| bound.is_finite()).collect()
}
