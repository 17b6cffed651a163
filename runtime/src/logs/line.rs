//! Formats an event as one line: as JSON, or as text for people.

use std::fmt::{Display, Write};
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};

use super::entry::{Entry, Field, Text};
use super::escape;
use super::time::Rfc3339;
use crate::base::notice;
use crate::config::{Level, LogFormat, LogLimits};
use crate::declare::value::OwnedValue;
use crate::record::clock;

/// Members of the JSON object that we define. A field with one of these names is put into the object `fields`.
const OURS: [&str; 10] = [
    "timestamp",
    "level",
    "service",
    "target",
    "message",
    "trace_id",
    "span_id",
    "trace_flags",
    "fields",
    "dropped_fields",
];

/// A destination of lines other than standard error.
pub(crate) type Sink = Box<dyn io::Write + Send>;

/// Formats and writes lines.
pub(super) struct Writer {
    form: Form,
    /// The value of `service`, as JSON.
    service: String,
    sink: Option<Mutex<Sink>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Text { colours: bool },
}

impl Writer {
    /// Creates a writer; `None` if the format is `none`.
    pub(super) fn new(lines: LogFormat, service: &str, sink: Option<Sink>) -> Option<Self> {
        let is_terminal = sink.is_none() && io::stderr().is_terminal();
        let form = match lines {
            LogFormat::None => return None,
            LogFormat::Json => Form::Json,
            LogFormat::Auto if !is_terminal => Form::Json,
            LogFormat::Text | LogFormat::Auto => Form::Text { colours: is_terminal && !is_plain_wanted() },
        };
        let mut quoted = String::new();
        escape::json(&mut quoted, service);
        Some(Writer { form, service: quoted, sink: sink.map(Mutex::new) })
    }

    /// Formats an event in the buffer `line` and writes it.
    pub(super) fn write(&self, line: &mut String, entry: &Entry) {
        self.make(line, entry);
        match &self.sink {
            None => notice::write(line.as_bytes()),
            Some(sink) => {
                // A line that cannot be written is not reported.
                let _ = sink.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
            }
        }
    }

    fn make(&self, line: &mut String, entry: &Entry) {
        line.clear();
        match self.form {
            Form::Json => json(line, entry, &self.service),
            Form::Text { colours } => text(line, entry, colours),
        }
        line.push('\n');
    }
}

/// Returns a format that makes notices look like log lines; `None` if there are no log lines.
pub(crate) fn notices(lines: LogFormat, service: &str) -> Option<notice::Format> {
    let writer = Writer::new(lines, service, None)?;
    Some(Arc::new(move |level, text| {
        let level = match level {
            notice::ERROR => Level::Error,
            notice::WARN => Level::Warn,
            _ => Level::Info,
        };
        let mut entry = Entry::default();
        entry.begin(clock::unix_now(), level, LogLimits { value_bytes: u32::MAX, ..LogLimits::default() }, &None);
        entry.target = Text::Static("tracecast");
        entry.set_message(format_args!("{text}"));
        let mut line = String::new();
        writer.make(&mut line, &entry);
        line
    }))
}

/// Returns whether the user disables colours: <https://no-color.org>.
fn is_plain_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn name_of(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
        Level::Trace => "trace",
    }
}

fn json(line: &mut String, entry: &Entry, service: &str) {
    put(line, format_args!("{{\"timestamp\":\"{}\"", Rfc3339(entry.unix_nanos)));
    put(line, format_args!(",\"level\":\"{}\",\"service\":{service},\"target\":", name_of(entry.level)));
    escape::json(line, entry.text(&entry.target));
    line.push_str(",\"message\":");
    escape::json(line, entry.message());
    let context = &entry.context;
    if context.is_valid() {
        let flags = u8::from(context.is_sampled());
        put(line, format_args!(",\"trace_id\":\"{}\",\"span_id\":\"{}\"", context.trace_id(), context.span_id()));
        put(line, format_args!(",\"trace_flags\":\"{flags:02x}\""));
    }
    let is_ours = |name: &str| OURS.contains(&name);
    let mut clashes = false;
    for (name, field) in &entry.fields {
        let name = entry.text(name);
        if is_ours(name) {
            clashes = true;
        } else {
            line.push(',');
            member(line, entry, name, field);
        }
    }
    if clashes {
        line.push_str(",\"fields\":");
        let mut before = '{';
        for (name, field) in entry.fields.iter().filter(|(name, _)| is_ours(entry.text(name))) {
            line.push(before);
            member(line, entry, entry.text(name), field);
            before = ',';
        }
        line.push('}');
    }
    if entry.dropped > 0 {
        put(line, format_args!(",\"dropped_fields\":{}", entry.dropped));
    }
    line.push('}');
}

fn member(line: &mut String, entry: &Entry, name: &str, field: &Field) {
    escape::json(line, name);
    line.push(':');
    match field {
        Field::Text(text) => escape::json(line, entry.text(text)),
        // `Debug` prints the shortest digits that round-trip. JSON has no infinity and no NaN: both become text.
        Field::Plain(OwnedValue::F64(number)) if number.is_finite() => put(line, format_args!("{number:?}")),
        Field::Plain(OwnedValue::F64(number)) if number.is_nan() => line.push_str("\"NaN\""),
        Field::Plain(OwnedValue::F64(number)) => {
            line.push_str(if *number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
        }
        Field::Plain(value) => put(line, value),
    }
}

const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

fn text(line: &mut String, entry: &Entry, colours: bool) {
    let (dim, reset) = if colours { (DIM, RESET) } else { ("", "") };
    let (level, colour) = match entry.level {
        Level::Error | Level::Off => ("ERROR", "\x1b[31m"),
        Level::Warn => (" WARN", "\x1b[33m"),
        Level::Info => (" INFO", "\x1b[32m"),
        Level::Debug => ("DEBUG", "\x1b[34m"),
        Level::Trace => ("TRACE", "\x1b[35m"),
    };
    let colour = if colours { colour } else { "" };
    put(line, format_args!("{dim}{}{reset} {colour}{level}{reset} {dim}", Rfc3339(entry.unix_nanos)));
    escape::plain(line, entry.text(&entry.target));
    put(line, format_args!(":{reset} "));
    escape::plain(line, entry.message());
    for (name, field) in &entry.fields {
        put(line, format_args!(" {dim}"));
        escape::word(line, entry.text(name));
        put(line, format_args!("={reset}"));
        match field {
            Field::Text(text) => escape::word(line, entry.text(text)),
            Field::Plain(OwnedValue::F64(number)) => put(line, format_args!("{number:?}")),
            Field::Plain(value) => put(line, value),
        }
    }
    if entry.dropped > 0 {
        put(line, format_args!(" {dim}({} more fields){reset}", entry.dropped));
    }
    if entry.context.is_valid() {
        // The first digits suffice to distinguish the traces on a screen.
        put(line, format_args!(" {dim}trace={:08x}{reset}", (entry.context.trace_id().0 >> 96) as u32));
    }
}

fn put(line: &mut String, value: impl Display) {
    // Writing to a string does not fail.
    let _ = write!(line, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_only_our_own_colours_are_written() {
        let mut entry = Entry::default();
        entry.begin(0, Level::Warn, LogLimits::default(), &None);
        entry.set_message(format_args!("\x1b[31mred\n"));
        let mut line = String::new();
        text(&mut line, &entry, true);
        let expected = "<2>1970-01-01T00:00:00.000000Z<0> <33> WARN<0> <2>:<0> \\u{1b}[31mred\\n";
        assert_eq!(line, expected.replace('<', "\x1b[").replace('>', "m"));
    }

    #[test]
    fn lines_are_json_unless_standard_error_is_a_terminal() {
        // Whatever the test's standard error is, a sink is no terminal.
        let form = |lines| Writer::new(lines, "s", Some(Box::new(io::sink()))).map(|writer| writer.form);
        assert_eq!(form(LogFormat::Auto), Some(Form::Json));
        assert_eq!(form(LogFormat::Text), Some(Form::Text { colours: false }));
        assert_eq!(form(LogFormat::None), None);
    }
}
