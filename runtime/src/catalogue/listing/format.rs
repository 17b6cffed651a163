//! The JSON of a catalogue: versioned, sorted, and identical for the same program.

use std::borrow::Cow;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{CatalogueData, Key, Metric, Span};
use crate::declare::callsite::Kind;
use crate::declare::key::{KeyKind, ValueType};
use crate::declare::metric::{MetricKind, NumberType};

/// The version of the format. Other versions are rejected.
const VERSION: u64 = 1;

/// The reason why a text is not a catalogue.
///
/// ```
/// use tracecast::catalogue::CatalogueData;
///
/// let error = CatalogueData::from_json("{}").unwrap_err();
/// assert!(error.to_string().starts_with("not a catalogue: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueDataError(String);

impl fmt::Display for CatalogueDataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a catalogue: {}", self.0)
    }
}

impl std::error::Error for CatalogueDataError {}

impl CatalogueData {
    /// Returns the catalogue as JSON. The same program always gives the same text.
    ///
    /// ```
    /// use tracecast::catalogue::CatalogueData;
    ///
    /// assert!(CatalogueData::default().to_json().starts_with("{\n  \"tracecast_catalogue\": 1,\n"));
    /// ```
    pub fn to_json(&self) -> String {
        let whole = Whole {
            tracecast_catalogue: VERSION,
            series: self.series(),
            spans: Cow::Borrowed(&self.spans),
            keys: Cow::Borrowed(&self.keys),
            metrics: Cow::Borrowed(&self.metrics),
        };
        // This cannot fail: all keys are texts, and the writer is memory.
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    }

    /// Reads the JSON of [`CatalogueData::to_json`]. Unknown fields are ignored.
    ///
    /// ```
    /// use tracecast::catalogue::CatalogueData;
    ///
    /// let data = tracecast::catalogue().data();
    /// assert_eq!(CatalogueData::from_json(&data.to_json()), Ok(data));
    /// ```
    ///
    /// # Errors
    /// If the text is not JSON, or not a catalogue. The error names the position in the text.
    pub fn from_json(text: &str) -> Result<Self, CatalogueDataError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let Whole { spans, keys, metrics, .. } = serde_path_to_error::deserialize(&mut json).map_err(at_its_path)?;
        json.end().map_err(|error| CatalogueDataError(error.to_string()))?;
        Ok(CatalogueData { spans: spans.into_owned(), keys: keys.into_owned(), metrics: metrics.into_owned() })
    }
}

/// Prefixes the error with the path of the invalid value, such as `metrics[0].series`.
fn at_its_path(error: serde_path_to_error::Error<serde_json::Error>) -> CatalogueDataError {
    let (path, cause) = (error.path().to_string(), error.inner());
    // Errors about the whole text and errors of JSON syntax have no useful path.
    let names_one = cause.is_data() && path != ".";
    CatalogueDataError(if names_one { format!("`{path}`: {cause}") } else { cause.to_string() })
}

/// The whole JSON text.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "a catalogue")]
struct Whole<'a> {
    #[serde(deserialize_with = "version")]
    tracecast_catalogue: u64,
    /// The sum over all metrics, for human readers.
    #[serde(skip_deserializing)]
    series: u64,
    spans: Cow<'a, [Span]>,
    keys: Cow<'a, [Key]>,
    metrics: Cow<'a, [Metric]>,
}

fn version<'de, D: Deserializer<'de>>(text: D) -> Result<u64, D::Error> {
    match u64::deserialize(text)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format_args!("version {other}; expected {VERSION}"))),
    }
}

/// A value that is one word in JSON.
pub(super) trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

impl Word for Kind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("internal", Kind::Internal),
        ("server", Kind::Server),
        ("client", Kind::Client),
        ("producer", Kind::Producer),
        ("consumer", Kind::Consumer),
    ];
}

impl Word for KeyKind {
    const WORDS: &'static [(&'static str, Self)] =
        &[("label", KeyKind::Label), ("id", KeyKind::Id), ("measure", KeyKind::Measure), ("ad_hoc", KeyKind::AdHoc)];
}

impl Word for ValueType {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("str", ValueType::Str),
        ("u64", ValueType::U64),
        ("i64", ValueType::I64),
        ("f64", ValueType::F64),
        ("bool", ValueType::Bool),
        ("label", ValueType::Label),
        ("str[]", ValueType::StrArray),
        ("u64[]", ValueType::U64Array),
        ("i64[]", ValueType::I64Array),
        ("f64[]", ValueType::F64Array),
        ("bool[]", ValueType::BoolArray),
        ("any", ValueType::Any),
    ];
}

impl Word for MetricKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("counter", MetricKind::Counter),
        ("up_down_counter", MetricKind::UpDownCounter),
        ("gauge", MetricKind::Gauge),
        ("histogram", MetricKind::Histogram),
    ];
}

impl Word for NumberType {
    const WORDS: &'static [(&'static str, Self)] =
        &[("u64", NumberType::U64), ("i64", NumberType::I64), ("f64", NumberType::F64)];
}

/// Writes and reads values that are words.
pub(super) mod words {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Word;

    pub(in super::super) fn serialize<T: Word, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.word())
    }

    pub(in super::super) fn deserialize<'de, T: Word, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        let found = T::WORDS.iter().find(|(word, _)| *word == text);
        let accepted = || T::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let wrong = || D::Error::custom(format_args!("`{text}` is not one of {}", accepted()));
        found.map(|(_, value)| *value).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::listing::Bounds;

    fn listing(description: &str, values: u64, bounds: Bounds) -> CatalogueData {
        let metric = Metric {
            name: "tc_load_seconds".to_owned(),
            prometheus: "tc_load_seconds".to_owned(),
            group: "load".to_owned(),
            kind: MetricKind::Histogram,
            number: NumberType::F64,
            unit: "s".to_owned(),
            labels: Vec::new(),
            buckets: bounds,
            series: values,
            budget: values,
            description: description.to_owned(),
            crates: vec!["store 1.2.3".to_owned()],
        };
        CatalogueData { metrics: vec![metric], ..CatalogueData::default() }
    }

    #[test]
    fn a_written_catalogue_is_read_back() {
        for text in ["", "plain", "\"quoted\" \\ \n\t\r\u{1} ünï 🦀"] {
            let bounds = vec![-1e300, 0.1, 0.3, 1.0 / 3.0, 5e-324, f64::MAX];
            let listing = listing(text, u64::MAX, Bounds::Explicit(bounds));
            assert_eq!(CatalogueData::from_json(&listing.to_json()), Ok(listing.clone()));
            let value: serde_json::Value = serde_json::from_str(&listing.to_json()).unwrap();
            assert_eq!(value["metrics"][0]["description"], text);
            assert_eq!(CatalogueData::from_json(&value.to_string()), Ok(listing));
        }
    }

    #[test]
    fn escapes_are_decoded() {
        let json = listing("HERE", 1, Bounds::None).to_json().replace("HERE", r"\u0041\/\ud83e\udd80\b");
        assert_eq!(CatalogueData::from_json(&json).unwrap().metrics[0].description, "A/🦀\u{8}");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{\"spans\": [],\n", "EOF while parsing a value at line 2 column 0"),
            ("{\"spans\": [] 2}", "expected `,` or `}` at line 1 column 14"),
            ("{\"spans\" 1}", "expected `:` at line 1 column 10"),
            ("{a: 1}", "key must be a string at line 1 column 2"),
            ("{\"later\": 1-2}", "expected `,` or `}` at line 1 column 12"),
            ("{\"later\": nul}", "expected ident at line 1 column 14"),
            (&format!("{}x", CatalogueData::default().to_json()), "trailing characters at line 8 column 1"),
            (r#"{"\x": 1}"#, "invalid escape at line 1 column 4"),
            (r#"{"\ud83e": 1}"#, "unexpected end of hex escape at line 1 column 9"),
            (r#"{"\ud83e\u0041": 1}"#, "lone leading surrogate in hex escape at line 1 column 14"),
            ("{\"\n\": 1}", "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0"),
            (&"[".repeat(100_000), "`[0]`: invalid type: sequence, expected u64 at line 1 column 1"),
            (
                &format!("{{\"metrics\": [{{\"buckets\": {}", "[".repeat(100_000)),
                "recursion limit exceeded at line 1 column 150",
            ),
        ] {
            assert_eq!(CatalogueData::from_json(text), Err(CatalogueDataError(expected.to_owned())), "{text:.40}");
        }
    }
}
