//! Adds the ids of the current trace to lines that the program's own formatter writes.

use std::io::{self, Write};

use serde::de::IgnoredAny;

use crate::trace::context::Context;

/// Adds the ids of the current span to each line that is written to `writer`. Use it for a subscriber that formats
/// lines itself, such as `tracing_subscriber::fmt`, as JSON or text:
///
/// ```
/// use tracing_subscriber::fmt;
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let lines = fmt::layer().json().with_writer(|| tracecast::logs::with_ids(std::io::stderr()));
/// let subscriber = tracing_subscriber::registry().with(lines);
/// tracing::subscriber::with_default(subscriber, || tracing::info!(bytes = 5, "loaded"));
/// ```
///
/// A JSON object gets the members `trace_id`, `span_id` and `trace_flags`; text ends with `trace_id=.. span_id=..`. Outside of spans
/// lines are not changed. Each call of `write` must be one whole line on the thread that logged it, so put a writer with its own
/// thread inside of this one, not around it.
pub fn with_ids<W: Write>(writer: W) -> WithIds<W> {
    WithIds(writer)
}

/// A writer that adds ids to lines. Made by [`with_ids`].
///
/// ```
/// use std::io::Write as _;
///
/// let mut writer: tracecast::logs::WithIds<Vec<u8>> = tracecast::logs::with_ids(Vec::new());
/// writer.write_all(b"no span is active\n")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WithIds<W>(W);

impl<W: Write> Write for WithIds<W> {
    /// Writes the whole line or fails: the rest of a partial write would be taken for another line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let context = Context::current();
        if context.is_valid() {
            self.0.write_all(&with(line, &context))?;
        } else {
            self.0.write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn with(line: &[u8], context: &Context) -> Vec<u8> {
    let (trace_id, span_id, flags) = (context.trace_id(), context.span_id(), u8::from(context.is_sampled()));
    let (text, end) = line.split_at(line.trim_ascii_end().len());
    let (text, ids) = match object(text) {
        Some(members) => {
            let comma = if members.trim_ascii() == b"{" { "" } else { "," };
            let ids = format!(r#"{comma}"trace_id":"{trace_id}","span_id":"{span_id}","trace_flags":"{flags:02x}"}}"#);
            (members, ids)
        }
        None => (text, format!(" trace_id={trace_id} span_id={span_id}")),
    };
    [text, ids.as_bytes(), end].concat()
}

/// Returns a JSON object's text without its last brace; `None` for other text.
fn object(text: &[u8]) -> Option<&[u8]> {
    let members = text.strip_suffix(b"}").filter(|members| members.starts_with(b"{"))?;
    serde_json::from_slice::<IgnoredAny>(text).ok().map(|_| members)
}
