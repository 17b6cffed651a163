//! Reads records of `log`.

use std::cell::Cell;

use log::kv::{self, Key, VisitSource, VisitValue};

use super::entry::{Entry, Text};
use super::inside;
use crate::config::Level;
use crate::declare::value::Value;

thread_local! {
    /// The last event of `tracing` on this thread, or the record that `tracing` created from it.
    static LAST: Cell<Option<Delivery>> = const { Cell::new(None) };
}

/// A delivery of an event of `tracing`. With `tracing`'s feature `log-always` each event is delivered twice, directly
/// one after the other: as an event and as a record of `log`.
#[derive(Clone, Copy)]
pub(super) struct Delivery {
    is_record: bool,
    /// The addresses of the callsite's texts: two callsites on one line have equal texts at different addresses.
    place: [usize; 3],
    line: Option<u32>,
}

impl Delivery {
    pub(super) fn event(metadata: &tracing_core::Metadata<'static>) -> Self {
        let texts = [Some(metadata.target()), metadata.file(), metadata.module_path()];
        Delivery { is_record: false, place: texts.map(address), line: metadata.line() }
    }

    /// Identifies a record that `tracing` created; `None` for other records. Records of `tracing` have no static texts,
    /// whereas those of `log`'s macros have.
    fn record(record: &log::Record<'_>) -> Option<Self> {
        let texts = [Some(record.target()), record.file(), record.module_path()];
        let is_from_tracing = record.file_static().is_none() && record.module_path_static().is_none();
        is_from_tracing.then(|| Delivery { is_record: true, place: texts.map(address), line: record.line() })
    }

    /// Returns whether the previous delivery on this thread was the other one of the same event. If not, stores this
    /// one for the next call.
    pub(super) fn is_again(self) -> bool {
        let same = |last: Delivery| last.place == self.place && last.line == self.line;
        let is_again = LAST.take().is_some_and(|last| last.is_record != self.is_record && same(last));
        if !is_again {
            LAST.set(Some(self));
        }
        is_again
    }
}

fn address(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.as_ptr().addr())
}

/// A logger that handles records with the current state.
pub(super) struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        inside::is_captured() || inside::is_wanted(level_of(metadata.level()), metadata.target())
    }

    fn log(&self, record: &log::Record<'_>) {
        if Delivery::record(record).is_some_and(Delivery::is_again) {
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
            // If a source fails, the fields read so far are kept.
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
    fn visit_pair(&mut self, key: Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), kv::Error> {
        let name = self.0.copy(key.as_str());
        value.visit(Field(self.0, name))
    }
}

/// Reads the value of one key.
struct Field<'a>(&'a mut Entry, Text);

impl Field<'_> {
    fn set(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        self.0.set(self.1.clone(), value);
        Ok(())
    }
}

impl<'v> VisitValue<'v> for Field<'_> {
    fn visit_any(&mut self, value: kv::Value<'_>) -> Result<(), kv::Error> {
        self.0.set_formatted(self.1.clone(), format_args!("{value}"));
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), kv::Error> {
        self.set(Value::Bool(value))
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), kv::Error> {
        self.set(Value::I64(value))
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), kv::Error> {
        self.set(Value::U64(value))
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), kv::Error> {
        self.set(Value::F64(value))
    }

    fn visit_str(&mut self, value: &str) -> Result<(), kv::Error> {
        self.set(Value::Str(value))
    }
}
