//! A log record: an event that waits for the export thread.

use std::borrow::Cow;

use super::entry::Entry;
use crate::config::Level;
use crate::declare::value::OwnedValue;

/// The attributes of the source location, as named in the semantic conventions.
const FILE: &str = "code.file.path";
const LINE: &str = "code.line.number";

/// The owned data of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRecord {
    /// The time of the event, which is also its observed time.
    pub unix_nanos: u64,
    /// The severity level.
    pub level: Level,
    /// The target, exported as the instrumentation scope.
    pub target: Cow<'static, str>,
    /// The message.
    pub body: Cow<'static, str>,
    /// The attributes; all names are different.
    pub attributes: Vec<(Cow<'static, str>, OwnedValue)>,
    /// The number of attributes beyond the limit.
    pub dropped_attributes: u32,
    /// The trace id; zero outside of a trace.
    pub trace_id: u128,
    /// The id of the active span; zero outside of a trace.
    pub span_id: u64,
    /// Whether the trace is sampled.
    pub sampled: bool,
}

impl LogRecord {
    pub(super) fn of(entry: &Entry) -> Self {
        let context = &entry.context;
        let (trace_id, span_id) = if context.is_valid() { context.ids() } else { (0, 0) };
        let mut record = LogRecord {
            unix_nanos: entry.unix_nanos,
            level: entry.level,
            target: entry.owned(&entry.target),
            body: entry.message.as_ref().map_or(Cow::Borrowed(""), |message| entry.owned(message)),
            attributes: Vec::with_capacity((entry.fields.len() + 2).min(entry.limit())),
            dropped_attributes: entry.dropped,
            trace_id,
            span_id,
            sampled: context.is_valid() && context.is_sampled(),
        };
        for (name, field) in &entry.fields {
            record.attributes.push((entry.owned(name), entry.owned_value(field)));
        }
        if let Some(file) = &entry.file {
            record.place(FILE, OwnedValue::Str(entry.owned(file)), entry.limit());
        }
        if let Some(line) = entry.line {
            record.place(LINE, OwnedValue::I64(i64::from(line)), entry.limit());
        }
        record
    }

    /// Adds an attribute of the source location, unless the event has a field of that name. If the limit is reached,
    /// counts it as dropped.
    fn place(&mut self, name: &'static str, value: OwnedValue, limit: usize) {
        if self.attributes.iter().any(|(given, _)| given == name) {
            return;
        }
        if self.attributes.len() < limit {
            self.attributes.push((Cow::Borrowed(name), value));
        } else {
            self.dropped_attributes += 1;
        }
    }

    /// Returns the number of bytes of memory that the record takes.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Cow<'static, str>| if matches!(text, Cow::Owned(_)) { text.len() } else { 0 };
        let attribute = |(name, value): &(Cow<'static, str>, OwnedValue)| {
            size_of::<(Cow<'static, str>, OwnedValue)>() + text(name) + value.heap_bytes()
        };
        let attributes: usize = self.attributes.iter().map(attribute).sum();
        size_of::<LogRecord>() + text(&self.target) + text(&self.body) + attributes
    }

    /// Returns the severity number: the first of the four that OpenTelemetry defines for each level, or 0 for `Off`.
    pub(crate) fn severity(&self) -> u8 {
        match self.level {
            Level::Off => 0,
            Level::Trace => 1,
            Level::Debug => 5,
            Level::Info => 9,
            Level::Warn => 13,
            Level::Error => 17,
        }
    }

    pub(crate) fn severity_text(&self) -> &'static str {
        match self.level {
            Level::Off => "",
            Level::Trace => "TRACE",
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
        }
    }
}
