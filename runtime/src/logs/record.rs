//! A log record: an event that waits for the export thread.

use std::borrow::Cow;

use super::entry::Entry;
use crate::config::Level;
use crate::declare::value::OwnedValue;

/// Where in the code an event was made, as the semantic conventions call it.
const FILE: &str = "code.file.path";
const LINE: &str = "code.line.number";

/// An event, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRecord {
    /// When it happened and when it was seen, which here is the same.
    pub unix_nanos: u64,
    /// How important it is.
    pub level: Level,
    /// The instrumentation scope.
    pub target: Cow<'static, str>,
    /// The message.
    pub body: Cow<'static, str>,
    /// Each name stands once.
    pub attributes: Vec<(Cow<'static, str>, OwnedValue)>,
    /// Attributes past the limit.
    pub dropped_attributes: u32,
    /// Zero outside of any trace, as the next.
    pub trace_id: u128,
    /// The active span.
    pub span_id: u64,
    /// Whether the trace is.
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

    /// Adds a part of the place, if the user has not, and there is room.
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

    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let text = |text: &Cow<'static, str>| if matches!(text, Cow::Owned(_)) { text.len() } else { 0 };
        let attribute = |(name, value): &(Cow<'static, str>, OwnedValue)| {
            size_of::<(Cow<'static, str>, OwnedValue)>() + text(name) + value.heap_bytes()
        };
        let attributes: usize = self.attributes.iter().map(attribute).sum();
        size_of::<LogRecord>() + text(&self.target) + text(&self.body) + attributes
    }

    /// The number of the severity: the first of the four that OpenTelemetry has for each level.
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
