//! Logs without the rest of telemetry, for tests of whole programs. Not public API: it changes without notice.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::suppress;
use crate::config::redact::Redact;
use crate::config::{LogFilter, LogFormat, LogLimits};
use crate::declare::value::OwnedValue;
use crate::encode::json;
use crate::encode::logs::LogBatch;
use crate::encode::resource::EncodedResource;
use crate::logs::{Logs, LogsConfig, RecordsConfig, installed, start};

pub use crate::logs::LogRecord;

/// Options for starting logs.
#[derive(Debug)]
pub struct Options {
    /// The log filter.
    pub filter: &'static str,
    /// Lines are text instead of JSON.
    pub text: bool,
    /// Lines go to standard error, as text on a terminal and as JSON elsewhere.
    pub stderr: bool,
    /// The maximum number of attributes of a record.
    pub attributes: u32,
    /// The maximum size of a text in bytes.
    pub value_bytes: u32,
    /// The maximum size of all queued records in bytes.
    pub queue_bytes: usize,
    /// Installs a subscriber and a logger.
    pub install: bool,
    /// The redaction hook.
    pub redact: Option<fn(&str, &str) -> Option<String>>,
}

impl Default for Options {
    fn default() -> Self {
        let LogLimits { attributes, value_bytes, .. } = LogLimits::default();
        let (filter, queue_bytes) = ("trace", 64 << 20);
        Options {
            filter,
            text: false,
            stderr: false,
            attributes,
            value_bytes,
            queue_bytes,
            install: false,
            redact: None,
        }
    }
}

/// Running logs that keep their lines.
#[derive(Debug)]
pub struct TestLogs {
    logs: Logs,
    lines: Kept,
}

/// A sink that keeps each write as one string.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<String>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(bytes.to_vec()).map_err(io::Error::other)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TestLogs {
    /// Starts logs of a service named `tested`.
    ///
    /// # Panics
    /// If the filter is invalid.
    pub fn start(options: Options) -> Self {
        let lines = Kept::default();
        let Options { attributes, value_bytes, queue_bytes, .. } = options;
        let limits = LogLimits { attributes, value_bytes };
        let logs = start(LogsConfig {
            service: "tested".to_owned(),
            filter: filter_of(options.filter),
            lines: match options {
                Options { stderr: true, .. } => LogFormat::Auto,
                Options { text: true, .. } => LogFormat::Text,
                _ => LogFormat::Json,
            },
            sink: if options.stderr { None } else { Some(Box::new(lines.clone())) },
            limits,
            records: Some(RecordsConfig { queue_bytes }),
            redact: options.redact.map(Redact::new),
            install: options.install,
        });
        TestLogs { logs, lines }
    }

    /// Returns the lines written since the last call.
    pub fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the queued records.
    pub fn records(&self) -> Vec<LogRecord> {
        std::iter::from_fn(|| self.logs.next()).collect()
    }

    /// The numbers of recorded, dropped and queued records.
    pub fn counts(&self) -> [u64; 3] {
        let counts = self.logs.counts();
        [counts.recorded, counts.dropped, counts.waiting]
    }

    /// Changes the log filter.
    ///
    /// # Panics
    /// If the filter is invalid.
    pub fn set_filter(&self, filter: &str) {
        self.logs.set_filter(filter_of(filter));
    }

    /// Stops accepting events.
    pub fn stop(&self) {
        self.logs.stop();
    }
}

fn filter_of(text: &str) -> LogFilter {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns whether the process uses our subscriber, and whether it uses our logger.
pub fn is_installed() -> (bool, bool) {
    let installed = installed();
    (installed.subscriber, installed.logger)
}

/// Runs `f` with telemetry suppressed, as on the export thread.
pub fn suppressed<R>(f: impl FnOnce() -> R) -> R {
    let _suppressed = suppress::suppressed();
    f()
}

/// Encodes records as protobuf (with a batch that was used before) and as JSON.
pub fn requests(records: &[LogRecord]) -> (Vec<u8>, Vec<u8>) {
    let attributes = [("service.name".to_owned(), OwnedValue::from("tested"))];
    let resource = EncodedResource::new(&attributes).with_schema_url("https://opentelemetry.io/schemas/1.42.0");
    let mut batch = <LogBatch>::new(&resource);
    // Nothing of the first request may be part of the second.
    records.iter().take(3).for_each(|record| batch.add(record));
    let used = batch.take(Vec::new());
    records.iter().for_each(|record| batch.add(record));
    assert_eq!(batch.is_empty(), records.is_empty());
    (batch.take(used), json::logs_request(&resource, records))
}

/// Returns the least severe level at which events of a target pass the configured filter.
pub fn level_of(config: &crate::config::Config, target: &str) -> crate::config::Level {
    config.settings.log_filter.level_of(target)
}
