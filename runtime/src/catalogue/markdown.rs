//! The catalogue as Markdown.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use super::Catalogue;
use super::conflict::shape;
use crate::declare::key::{KeyKind, KeyMeta};

impl Catalogue {
    /// Returns the catalogue as Markdown: one table each of spans, keys and metrics.
    ///
    /// ```
    /// let markdown = tracecast::catalogue().to_markdown();
    /// assert!(markdown.contains("| `tc.source.type` | Label | 2 | Where the bytes come from. |"));
    /// ```
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.write_markdown(&mut text);
        text
    }

    fn write_markdown(&self, text: &mut String) -> fmt::Result {
        writeln!(text, "## Spans\n\n| span | kind | keys | crate | declared at |\n|---|---|---|---|---|")?;
        for span in &self.spans {
            let keys: Vec<_> = span.declared_keys().iter().map(|key| shown(key)).collect();
            let place = format!("{}:{}", span.file(), span.line());
            let (name, kind, keys, scope) = (span.name(), span.kind(), keys.join(", "), span.scope());
            writeln!(text, "| `{name}` | {kind:?} | {keys} | {} {} | {place} |", scope.name, scope.version)?;
        }
        writeln!(text, "\n## Keys\n\n| key | kind | values | meaning | declared at |\n|---|---|---|---|---|")?;
        for key in &self.keys {
            let values = key.cardinality.map_or_else(|| type_of(key), |values| values.to_string());
            let place = format!("{}:{}", key.location.file(), key.location.line());
            writeln!(text, "| `{}` | {:?} | {values} | {} | {place} |", key.name, key.kind, key.description.trim())?;
        }
        writeln!(
            text,
            "\n## Metrics\n\n| metric | shape | series at most | bytes per thread | bytes at most, up to 16 processors | meaning | crate | declared at |\n|---|---|---|---|---|---|---|---|"
        )?;
        for metric in &self.metrics {
            let place = format!("{}:{}", metric.location.file(), metric.location.line());
            let (series, per_thread, bytes) = (metric.series(), metric.bytes_per_thread(), metric.bytes());
            let (name, shape, meaning) = (metric.name, shape(metric), metric.description.trim());
            let (of, version) = (metric.crate_name, metric.crate_version);
            writeln!(
                text,
                "| `{name}` | {shape} | {series} | {per_thread} | {bytes} | {meaning} | {of} {version} | {place} |"
            )?;
        }
        Ok(())
    }
}

/// Returns the name of a key, with its type if it is declared on the span itself.
fn shown(key: &KeyMeta) -> Cow<'static, str> {
    match key.kind {
        KeyKind::AdHoc => format!("{}: {}", key.name, type_of(key)).into(),
        _ => key.name.into(),
    }
}

/// Returns the name of a type: `Str`, and `Str[]` for a list.
fn type_of(key: &KeyMeta) -> String {
    format!("{:?}", key.value_type).replace("Array", "[]")
}
