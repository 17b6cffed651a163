//! A JSON writer, with as much of JSON as a report needs.

use std::fmt::{self, Display};

pub enum Json {
    Bool(bool),
    /// NaN and infinity are written as `null`.
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub fn text(text: impl Into<String>) -> Self {
        Json::Text(text.into())
    }

    pub fn object<const N: usize>(members: [(&'static str, Json); N]) -> Self {
        Json::Object(members.into())
    }
}

impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(value) if value.is_finite() => write!(f, "{value}"),
            Json::Number(_) => f.write_str("null"),
            Json::Text(text) => write!(f, "\"{}\"", escaped(text)),
            Json::Array(items) => {
                f.write_str("[")?;
                separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                separated(f, members, |f, (name, value)| write!(f, "\"{name}\": {value}"))?;
                f.write_str("}")
            }
        }
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    each: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(",\n")?;
        }
        each(f, item)?;
    }
    Ok(())
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_what_is_no_number_is_null() {
        let json = Json::object([("a", Json::text("\"\\\n")), ("b", Json::Number(f64::NAN)), ("c", Json::Bool(true))]);
        assert_eq!(json.to_string(), "{\"a\": \"\\\"\\\\\\u000a\",\n\"b\": null,\n\"c\": true}");
    }
}
