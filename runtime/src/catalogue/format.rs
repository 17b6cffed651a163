//! The JSON of a listing: versioned, sorted, and the same for the same program.

use std::fmt;

use super::json::Json;
use super::listing::{Bounds, Key, Label, Listing, Metric, Span};
use super::parse;
use crate::declare::callsite::Kind;
use crate::declare::key::{KeyKind, ValueType};
use crate::declare::metric::{MetricKind, NumberType};

/// What is written, and the only one that is read.
const VERSION: u64 = 1;

/// Why a text is not a listing.
///
/// ```
/// use tracecast::Listing;
///
/// let error = Listing::from_json("{}").unwrap_err();
/// assert!(error.to_string().starts_with("not a catalogue: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingError(String);

impl fmt::Display for ListingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a catalogue: {}", self.0)
    }
}

impl std::error::Error for ListingError {}

impl Listing {
    /// The listing as JSON. The same program always gives the same text.
    ///
    /// ```
    /// use tracecast::Listing;
    ///
    /// assert!(Listing::default().to_json().starts_with("{\n  \"tracecast_catalogue\": 1,\n"));
    /// ```
    pub fn to_json(&self) -> String {
        let json = Json::object([
            ("tracecast_catalogue", VERSION.into()),
            ("series", self.series().into()),
            ("spans", Json::list(&self.spans)),
            ("keys", Json::list(&self.keys)),
            ("metrics", Json::list(&self.metrics)),
        ]);
        format!("{json}\n")
    }

    /// Reads what [`Listing::to_json`] wrote. Fields that are not known are passed over.
    ///
    /// ```
    /// use tracecast::Listing;
    ///
    /// let listing = tracecast::catalogue().listing();
    /// assert_eq!(Listing::from_json(&listing.to_json()), Ok(listing));
    /// ```
    ///
    /// # Errors
    /// If the text is no JSON, or not that of a catalogue. The error names the place.
    pub fn from_json(text: &str) -> Result<Self, ListingError> {
        read(text).map_err(ListingError)
    }
}

fn read(text: &str) -> Read<Listing> {
    let json = parse::parse(text)?;
    let root = At { json: &json, path: String::new() };
    let version = root.field("tracecast_catalogue")?.count()?;
    if version != VERSION {
        return Err(format!("`tracecast_catalogue` is {version}; expected {VERSION}"));
    }
    Ok(Listing {
        spans: root.field("spans")?.each(span)?,
        keys: root.field("keys")?.each(key)?,
        metrics: root.field("metrics")?.each(metric)?,
    })
}

const KINDS: [(&str, Kind); 5] = [
    ("internal", Kind::Internal),
    ("server", Kind::Server),
    ("client", Kind::Client),
    ("producer", Kind::Producer),
    ("consumer", Kind::Consumer),
];
const KEY_KINDS: [(&str, KeyKind); 3] = [("label", KeyKind::Label), ("id", KeyKind::Id), ("measure", KeyKind::Measure)];
const TYPES: [(&str, ValueType); 6] = [
    ("str", ValueType::Str),
    ("u64", ValueType::U64),
    ("i64", ValueType::I64),
    ("f64", ValueType::F64),
    ("bool", ValueType::Bool),
    ("label", ValueType::Label),
];
const METRIC_KINDS: [(&str, MetricKind); 4] = [
    ("counter", MetricKind::Counter),
    ("up_down_counter", MetricKind::UpDownCounter),
    ("gauge", MetricKind::Gauge),
    ("histogram", MetricKind::Histogram),
];
const NUMBERS: [(&str, NumberType); 3] = [("u64", NumberType::U64), ("i64", NumberType::I64), ("f64", NumberType::F64)];

/// The name of a value.
fn named<T: PartialEq>(table: &'static [(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

pub(super) fn kind_name(kind: Kind) -> &'static str {
    named(&KINDS, &kind)
}

pub(super) fn metric_kind_name(kind: MetricKind) -> &'static str {
    named(&METRIC_KINDS, &kind)
}

pub(super) fn key_kind_name(kind: KeyKind, value_type: ValueType) -> String {
    match kind {
        KeyKind::Label => "label".to_owned(),
        kind => format!("{} of {}", named(&KEY_KINDS, &kind), named(&TYPES, &value_type)),
    }
}

impl From<&Span> for Json {
    fn from(span: &Span) -> Self {
        Json::object([
            ("name", (&span.name).into()),
            ("kind", kind_name(span.kind).into()),
            ("keys", Json::list(&span.keys)),
        ])
    }
}

impl From<&Key> for Json {
    fn from(key: &Key) -> Self {
        Json::object([
            ("name", (&key.name).into()),
            ("kind", named(&KEY_KINDS, &key.kind).into()),
            ("type", named(&TYPES, &key.value_type).into()),
            ("values", key.values.map_or(Json::Null, Json::from)),
            ("baggage", key.baggage.into()),
            ("description", (&key.description).into()),
        ])
    }
}

impl From<&Metric> for Json {
    fn from(metric: &Metric) -> Self {
        let buckets = match &metric.buckets {
            Bounds::None => Json::Null,
            Bounds::Explicit(bounds) => Json::list(bounds.iter().copied()),
            Bounds::Exponential => "exponential".into(),
        };
        Json::object([
            ("name", (&metric.name).into()),
            ("prometheus", (&metric.prometheus).into()),
            ("group", (&metric.group).into()),
            ("kind", metric_kind_name(metric.kind).into()),
            ("number", named(&NUMBERS, &metric.number).into()),
            ("unit", (&metric.unit).into()),
            ("labels", Json::list(&metric.labels)),
            ("buckets", buckets),
            ("series", metric.series.into()),
            ("budget", metric.budget.into()),
            ("description", (&metric.description).into()),
        ])
    }
}

impl From<&Label> for Json {
    fn from(label: &Label) -> Self {
        Json::object([
            ("attributes", Json::list(&label.attributes)),
            ("values", label.values.into()),
            ("texts", Json::list(&label.texts)),
        ])
    }
}

fn span(at: &At<'_>) -> Read<Span> {
    Ok(Span {
        name: at.field("name")?.text()?,
        kind: at.field("kind")?.one_of(&KINDS)?,
        keys: at.field("keys")?.each(|at| at.text())?,
    })
}

fn key(at: &At<'_>) -> Read<Key> {
    Ok(Key {
        name: at.field("name")?.text()?,
        kind: at.field("kind")?.one_of(&KEY_KINDS)?,
        value_type: at.field("type")?.one_of(&TYPES)?,
        values: at.field("values")?.maybe(At::count)?,
        baggage: at.field("baggage")?.flag()?,
        description: at.field("description")?.text()?,
    })
}

fn metric(at: &At<'_>) -> Read<Metric> {
    Ok(Metric {
        name: at.field("name")?.text()?,
        prometheus: at.field("prometheus")?.text()?,
        group: at.field("group")?.text()?,
        kind: at.field("kind")?.one_of(&METRIC_KINDS)?,
        number: at.field("number")?.one_of(&NUMBERS)?,
        unit: at.field("unit")?.text()?,
        labels: at.field("labels")?.each(label)?,
        buckets: match at.field("buckets")? {
            At { json: Json::Null, .. } => Bounds::None,
            At { json: Json::Text(text), .. } if text == "exponential" => Bounds::Exponential,
            bounds => Bounds::Explicit(bounds.each(|at| at.number())?),
        },
        series: at.field("series")?.count()?,
        budget: at.field("budget")?.count()?,
        description: at.field("description")?.text()?,
    })
}

fn label(at: &At<'_>) -> Read<Label> {
    Ok(Label {
        attributes: at.field("attributes")?.each(|at| at.text())?,
        values: at.field("values")?.count()?,
        texts: at.field("texts")?.each(|at| at.text())?,
    })
}

type Read<T> = Result<T, String>;

/// A value and where it stands.
struct At<'a> {
    json: &'a Json,
    path: String,
}

impl At<'_> {
    fn wrong<T>(&self, expected: &str) -> Read<T> {
        Err(format!("`{}` is not {expected}", if self.path.is_empty() { "the text" } else { &self.path }))
    }

    fn field(&self, name: &str) -> Read<At<'_>> {
        let Json::Object(fields) = self.json else { return self.wrong("an object") };
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        match fields.iter().find(|(known, _)| known == name) {
            Some((_, json)) => Ok(At { json, path }),
            None => Err(format!("`{path}` is missing")),
        }
    }

    fn each<T>(&self, read: impl Fn(&At<'_>) -> Read<T>) -> Read<Vec<T>> {
        let Json::List(items) = self.json else { return self.wrong("a list") };
        let item = |(at, json)| read(&At { json, path: format!("{}[{at}]", self.path) });
        items.iter().enumerate().map(item).collect()
    }

    fn maybe<T>(&self, read: impl Fn(&Self) -> Read<T>) -> Read<Option<T>> {
        if *self.json == Json::Null { Ok(None) } else { read(self).map(Some) }
    }

    fn text(&self) -> Read<String> {
        if let Json::Text(text) = self.json { Ok(text.clone()) } else { self.wrong("a text") }
    }

    fn flag(&self) -> Read<bool> {
        if let Json::Bool(flag) = self.json { Ok(*flag) } else { self.wrong("true or false") }
    }

    fn count(&self) -> Read<u64> {
        let Json::Number(digits) = self.json else { return self.wrong("a whole number") };
        digits.parse().or_else(|_| self.wrong("a whole number"))
    }

    fn number(&self) -> Read<f64> {
        let Json::Number(digits) = self.json else { return self.wrong("a number") };
        digits.parse().or_else(|_| self.wrong("a number"))
    }

    fn one_of<T: Copy>(&self, table: &[(&str, T)]) -> Read<T> {
        let text = self.text()?;
        let found = table.iter().find(|(name, _)| *name == text);
        let accepted = || table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        found.map_or_else(|| self.wrong(&format!("one of {}, but `{text}`", accepted())), |(_, value)| Ok(*value))
    }
}
