//! Reads events of `tracing`.

use std::error::Error;
use std::fmt::Debug;

use tracing_core::field::{Field, Visit};
use tracing_core::{Event, Metadata};

use super::entry::{Chain, Entry, Text};
use super::inside;
use super::logger::Delivery;
use crate::config::Level;
use crate::declare::value::Value;

pub(super) fn level_of(level: &tracing_core::Level) -> Level {
    match *level {
        tracing_core::Level::ERROR => Level::Error,
        tracing_core::Level::WARN => Level::Warn,
        tracing_core::Level::INFO => Level::Info,
        tracing_core::Level::DEBUG => Level::Debug,
        tracing_core::Level::TRACE => Level::Trace,
    }
}

/// Returns whether a callsite belongs to `LogTracer` of `tracing-log`, whose events have the record's target and
/// location in fields.
pub(super) fn is_from_log(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "log" && metadata.name() == "log event" && metadata.fields().field("log.target").is_some()
}

pub(super) fn handle(event: &Event<'_>) {
    let metadata = event.metadata();
    let level = level_of(metadata.level());
    if metadata.target() == "log" && is_from_log(metadata) {
        return inside::handle_unknown(level, |entry| {
            entry.target = Text::Own(0..0);
            event.record(&mut FromLog(entry));
        });
    }
    if Delivery::event(metadata).is_again() {
        return;
    }
    inside::handle(level, metadata.target(), |entry| {
        entry.target = Text::Static(metadata.target());
        entry.file = metadata.file().map(Text::Static);
        entry.line = metadata.line();
        event.record(&mut Fields(entry));
    });
}

struct Fields<'a>(&'a mut Entry);

impl Fields<'_> {
    /// Returns true for the first field named `message`: the macros of `tracing` put the event's text before its
    /// fields.
    fn is_text(&self, field: &Field) -> bool {
        field.name() == "message" && self.0.message.is_none()
    }

    fn set(&mut self, field: &Field, value: Value<'_>) {
        if !self.is_text(field) {
            return self.0.set(name_of(field), value);
        }
        if let Value::Str(text) = value {
            self.0.set_message(format_args!("{text}"));
        } else if let Some(value) = value.into_owned() {
            self.0.set_message(format_args!("{value}"));
        }
    }

    fn set_formatted(&mut self, field: &Field, value: std::fmt::Arguments<'_>) {
        if self.is_text(field) {
            self.0.set_message(value);
        } else {
            self.0.set_formatted(name_of(field), value);
        }
    }
}

/// Returns the name of a field without the prefix `r#`.
fn name_of(field: &Field) -> Text {
    Text::Static(field.name().strip_prefix("r#").unwrap_or(field.name()))
}

impl Visit for Fields<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, Value::Bool(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, Value::I64(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, Value::U64(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, Value::F64(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, Value::Str(value));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        match i64::try_from(value) {
            Ok(value) => self.set(field, Value::I64(value)),
            Err(_) => self.set_formatted(field, format_args!("{value}")),
        }
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        match u64::try_from(value) {
            Ok(value) => self.set(field, Value::U64(value)),
            Err(_) => self.set_formatted(field, format_args!("{value}")),
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.set_formatted(field, format_args!("{}", Chain(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set_formatted(field, format_args!("{value:?}"));
    }
}

/// Reads the fields of a record of `log` that came through `LogTracer`.
struct FromLog<'a>(&'a mut Entry);

impl Visit for FromLog<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "log.target" => self.0.target = self.0.copy(value),
            "log.file" => self.0.file = Some(self.0.copy(value)),
            "log.module_path" => {}
            _ => Fields(self.0).record_str(field, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "log.line" => self.0.line = u32::try_from(value).ok(),
            _ => Fields(self.0).record_u64(field, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        Fields(self.0).record_debug(field, value);
    }
}
