//! Deserializers for the section's fields that are parsed from a text.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::base::secret::Secret;
use crate::config::endpoint::Endpoint;
use crate::config::level::LogFilter;
use crate::config::otlp::{Compression, Protocol};
use crate::config::parts::LogFormat;
use crate::config::problem::Wrong;
use crate::config::values::{self, Parsed};
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;

/// A string, number or boolean as text: files write numbers without quotes.
struct AnyText(String);

impl<'de> Deserialize<'de> for AnyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match OwnedValue::deserialize(deserializer)? {
            OwnedValue::Str(text) => Ok(AnyText(text.into_owned())),
            OwnedValue::I64(number) => Ok(AnyText(number.to_string())),
            OwnedValue::F64(number) => Ok(AnyText(number.to_string())),
            OwnedValue::Bool(truth) => Ok(AnyText(truth.to_string())),
            _ => Err(D::Error::custom("expected a single value, found a list")),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyText::deserialize(deserializer).map(|AnyText(text)| Secret::new(text))
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let AnyText(text) = AnyText::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for OwnedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl Visitor<'_> for AnyValue {
    type Value = OwnedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OwnedValue, E> {
        Ok(OwnedValue::from(text))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<OwnedValue, E> {
        Ok(OwnedValue::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<OwnedValue, E> {
        Ok(OwnedValue::I64(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<OwnedValue, E> {
        Ok(i64::try_from(number).map_or_else(|_| OwnedValue::from(number.to_string()), OwnedValue::I64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<OwnedValue, E> {
        Ok(OwnedValue::F64(number))
    }
}

fn parsed<'de, D: Deserializer<'de>, T>(deserializer: D, parse: fn(&str) -> Parsed<T>) -> Result<Option<T>, D::Error> {
    let Some(AnyText(text)) = Option::<AnyText>::deserialize(deserializer)? else { return Ok(None) };
    let shown = |secret| if secret { "[secret]" } else { text.as_str() };
    let error =
        |wrong: Wrong| D::Error::custom(format!("`{}` {}; {}", shown(wrong.secret), wrong.complaint, wrong.help));
    parse(&text).map(Some).map_err(error)
}

macro_rules! fields {
    ($($name:ident: $type:ty = $parse:expr;)*) => {$(
        pub(super) fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
            parsed(deserializer, $parse)
        }
    )*};
}

fields! {
    endpoint: Endpoint = |text| values::endpoint(text, None);
    protocol: Protocol = values::protocol;
    compression: Compression = values::compression;
    timeout: Duration = values::timeout;
    interval: Duration = values::interval;
    ratio: f64 = values::ratio;
    filter: Filter = values::filter;
    log_filter: LogFilter = |text| match LogFilter::read(text) {
        (Some(filter), wrong) if wrong.is_empty() => Ok(filter),
        (_, wrong) => Err(wrong.into_iter().next().unwrap_or_else(|| Wrong::new("is empty", "a log level"))),
    };
    log_lines: LogFormat = values::log_lines;
    bytes: usize = values::bytes;
}
