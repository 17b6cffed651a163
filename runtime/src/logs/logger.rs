//! Records of `log`.

use std::cell::Cell;

use log::kv::{self, Key, Value, VisitSource, VisitValue};

use super::entry::{Entry, Read, Text};
use super::inside;
use crate::config::Level;

thread_local! {
    /// Where the last event of `tracing` on this thread was made.
    static LAST: Cell<Option<(&'static str, u32)>> = const { Cell::new(None) };
}

/// Says that an event of `tracing` was seen. With its feature `log-always` the same event follows as a record.
pub(super) fn expect_again(file: Option<&'static str>, line: Option<u32>) {
    LAST.set(file.zip(line));
}

/// Whether the record is the event that was just seen.
fn is_again(record: &log::Record<'_>) -> bool {
    LAST.take().is_some_and(|(file, line)| record.line() == Some(line) && record.file() == Some(file))
}

/// A logger that hands records to whatever is inside.
pub(super) struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        inside::is_wanted(level_of(metadata.level()), metadata.target())
    }

    fn log(&self, record: &log::Record<'_>) {
        if is_again(record) {
            return;
        }
        inside::handle(level_of(record.level()), record.target(), |entry| {
            entry.target = entry.copy(record.target());
            entry.file = match (record.file_static(), record.file()) {
                (Some(file), _) => Some(Text::Static(file)),
                (None, Some(file)) => Some(entry.copy(file)),
                (None, None) => None,
            };
            entry.line = record.line();
            entry.set_message(*record.args());
            // A source that fails has given what it could.
            let _ = record.key_values().visit(&mut Fields(entry));
        });
    }

    fn flush(&self) {}
}

pub(super) fn level_filter(level: Level) -> log::LevelFilter {
    match level {
        Level::Off => log::LevelFilter::Off,
        Level::Error => log::LevelFilter::Error,
        Level::Warn => log::LevelFilter::Warn,
        Level::Info => log::LevelFilter::Info,
        Level::Debug => log::LevelFilter::Debug,
        Level::Trace => log::LevelFilter::Trace,
    }
}

fn level_of(level: log::Level) -> Level {
    match level {
        log::Level::Error => Level::Error,
        log::Level::Warn => Level::Warn,
        log::Level::Info => Level::Info,
        log::Level::Debug => Level::Debug,
        log::Level::Trace => Level::Trace,
    }
}

struct Fields<'a>(&'a mut Entry);

impl<'kvs> VisitSource<'kvs> for Fields<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        let name = self.0.copy(key.as_str());
        value.visit(Field(self.0, name))
    }
}

/// The value of one key.
struct Field<'a>(&'a mut Entry, Text);

impl Field<'_> {
    fn set(&mut self, read: Read<'_>) -> Result<(), kv::Error> {
        self.0.set(self.1.clone(), read);
        Ok(())
    }
}

impl<'v> VisitValue<'v> for Field<'_> {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        self.0.set_formatted(self.1.clone(), format_args!("{value}"));
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), kv::Error> {
        self.set(Read::Bool(value))
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), kv::Error> {
        self.set(Read::I64(value))
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), kv::Error> {
        self.set(Read::U64(value))
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), kv::Error> {
        self.set(Read::F64(value))
    }

    fn visit_str(&mut self, value: &str) -> Result<(), kv::Error> {
        self.set(Read::Str(value))
    }
}
