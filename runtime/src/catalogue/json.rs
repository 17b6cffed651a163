//! JSON without a dependency: the catalogue has to be written by libraries too, which have no serde.

use std::fmt::{self, Write as _};

/// A value. Numbers are kept as they are written, so that none loses a digit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order of the text.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn object<const N: usize>(fields: [(&str, Json); N]) -> Self {
        Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(super) fn list<T: Into<Json>>(items: impl IntoIterator<Item = T>) -> Self {
        Json::List(items.into_iter().map(Into::into).collect())
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Json::List(_) | Json::Object(_))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => write_text(f, text),
            Json::List(items) if items.iter().all(Json::is_scalar) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    item.write(f, depth)?;
                }
                f.write_char(']')
            }
            Json::List(items) => block(f, depth, ('[', ']'), items, |f, item: &Json, depth| item.write(f, depth)),
            Json::Object(fields) if fields.is_empty() => f.write_str("{}"),
            Json::Object(fields) => block(f, depth, ('{', '}'), fields, |f, (name, value): &(String, Json), depth| {
                write_text(f, name)?;
                f.write_str(": ")?;
                value.write(f, depth)
            }),
        }
    }
}

/// Items on lines of their own.
fn block<T>(
    f: &mut fmt::Formatter<'_>,
    depth: usize,
    (open, close): (char, char),
    items: &[T],
    write: impl Fn(&mut fmt::Formatter<'_>, &T, usize) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at == 0 { "\n" } else { ",\n" })?;
        write!(f, "{:1$}", "", (depth + 1) * 2)?;
        write(f, item, depth + 1)?;
    }
    write!(f, "\n{:1$}{close}", "", depth * 2)
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Number(value.to_string())
    }
}

impl From<f64> for Json {
    /// There is no JSON for what is not a finite number.
    fn from(value: f64) -> Self {
        if value.is_finite() { Json::Number(value.to_string()) } else { Json::Null }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_owned())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Json::Text(text.clone())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}
