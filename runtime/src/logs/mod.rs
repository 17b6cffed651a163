//! Log events of `tracing` and `log`, as lines that contain the ids of their trace and as OTLP log records.
//!
//! A program without its own subscriber needs nothing from this module: if logs are enabled, starting telemetry
//! installs a subscriber for `tracing` and a logger for `log`. A program with its own subscriber adds [`layer`] to it:
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
//! tracing::subscriber::with_default(subscriber, || tracing::info!(bytes = 5, "loaded"));
//! ```
//!
//! [`with_ids()`] adds trace ids to lines that the program's own subscriber writes.
//!
//! Install your own subscriber and logger before telemetry is started: `tracing` and `log` reject a second one, and
//! `tracing-subscriber`'s `init` panics then.
//!
//! # Lines
//! A line is one JSON object, or on a terminal text for people. The object has `timestamp` (RFC 3339, UTC), `level`,
//! `service`, `target` and `message`; `trace_id`, `span_id` and `trace_flags` if a span is active, sampled or not; and the
//! fields of the event. A field with one of these names is put into an object `fields`, so that it cannot forge the trace
//! or the level of a line. If fields have the same name, the last one is used. Texts that exceed the limit for values are
//! cut and end with `…`, in lines and in records. Fields beyond the limit for attributes are omitted, and `dropped_fields`
//! counts them. Numbers that JSON does not have (NaN, infinities, integers of more than 64 bits) become text. An error that
//! is passed as `&dyn Error` is written with its sources.
//!
//! No line contains a control character, whatever was logged: line ends, terminal escape sequences and marks that
//! reverse the direction of writing are escaped.
//!
//! Lines are written to standard error. A slow reader never blocks the program: see the book's chapter on logs.
//!
//! # Records
//! A record has the severity, the message as its body, the fields with their types as attributes, `code.file.path` and
//! `code.line.number`, and the ids of the active span. The target is the name of the instrumentation scope, where
//! OpenTelemetry and backends expect the name of a logger.
//!
//! # Omitted events
//! With `tracing`'s feature `log-always` each event is delivered a second time, through `log`. The second delivery is
//! recognised by its callsite and omitted. An event that is logged while its thread handles another one (by a `Display` that
//! logs) is dropped and counted. Events of the export thread become no records, and only those of level `warn` and above
//! become lines, because telemetry about telemetry would never end.

mod entry;
mod escape;
mod event;
mod inside;
mod line;
mod logger;
mod queue;
mod record;
mod subscriber;
mod time;
mod with_ids;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use tokio::sync::Notify;
use tracing_core::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

pub(crate) use self::line::{Sink, notices};
pub(crate) use self::queue::LogCounts;
#[doc(hidden)]
pub use self::record::LogRecord;
#[cfg(feature = "__internals")]
pub(crate) use self::subscriber::installed;
pub use self::with_ids::{WithIds, with_ids};

use self::inside::{Inside, Outputs};
use self::line::Writer;
use self::queue::Queue;
use crate::config::redact::Redact;
use crate::config::{LogFilter, LogFormat, LogLimits};
use crate::trace::fork;

/// Returns a layer for your own subscriber. While telemetry runs with logs enabled, the layer passes events to it.
///
/// The layer applies the log filter itself, so that it does not change which events other layers receive.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
/// tracing::subscriber::with_default(subscriber, || tracing::info!(bytes = 5, "loaded"));
/// ```
pub fn layer() -> LogLayer {
    LAYERED.store(true, Ordering::Relaxed);
    LogLayer { _private: () }
}

/// Whether the program has created a layer.
static LAYERED: AtomicBool = AtomicBool::new(false);

/// If the program has its own subscriber, returns whether our layer may be part of it; otherwise `None`.
pub(crate) fn foreign_subscriber() -> Option<bool> {
    let foreign = tracing_core::dispatcher::has_been_set() && !subscriber::installed().subscriber;
    foreign.then(|| LAYERED.load(Ordering::Relaxed))
}

/// The layer that [`layer`] returns.
///
/// ```
/// use tracing_subscriber::Layer as _;
/// use tracing_subscriber::filter::LevelFilter;
///
/// let warnings = tracecast::logs::layer().with_filter(LevelFilter::WARN);
/// # let _ = tracing_subscriber::layer::SubscriberExt::with(tracing_subscriber::registry(), warnings);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LogLayer {
    _private: (),
}

impl<S: Subscriber> Layer<S> for LogLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event::handle(event);
    }
}

/// The configuration of logs.
pub(crate) struct LogsConfig {
    pub(crate) service: String,
    pub(crate) filter: LogFilter,
    /// The format of lines; `LogFormat::None` disables lines.
    pub(crate) lines: LogFormat,
    /// The destination of lines; `None` is standard error.
    pub(crate) sink: Option<Sink>,
    /// The limits of one line or record.
    pub(crate) limits: LogLimits,
    /// The configuration of records; `None` disables them.
    pub(crate) records: Option<RecordsConfig>,
    pub(crate) redact: Option<Redact>,
    /// Whether to install our subscriber and logger if the program has none.
    pub(crate) install: bool,
}

/// The configuration of records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordsConfig {
    /// The initial limit for records that wait for the export thread, in bytes. The export thread may change it.
    pub(crate) queue_bytes: usize,
}

/// Keeps logs running while it lives.
#[must_use = "logs stop when this is dropped"]
pub(crate) struct Logs {
    outputs: Arc<Outputs>,
    /// Whether lines are still written after this guard is dropped.
    lines_stay: AtomicBool,
}

/// Starts logs. Replaces logs that were started before.
pub(crate) fn start(config: LogsConfig) -> Logs {
    let LogsConfig { service, filter, lines, sink, limits, records, redact, install } = config;
    let outputs = Arc::new(Outputs {
        lines: Writer::new(lines, &service, sink),
        queue: records.map(|records| Queue::new(records.queue_bytes)),
        paused: AtomicBool::new(false),
        limits,
        redact,
        process: std::process::id(),
    });
    fork::hold_too(fork::Room::Logs, inside::hold, inside::release);
    if install {
        subscriber::install();
    }
    swap(Some(Arc::new(Inside { filter, outputs: outputs.clone() })));
    Logs { outputs, lines_stay: AtomicBool::new(false) }
}

/// Prepares the process for captures of tests: enables all levels in our subscriber and logger.
pub(crate) fn prepare_captures() {
    // Other threads wait for the first call, because events would be lost until it is done.
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        inside::expect_captures();
        subscriber::levels_changed();
    });
}

/// Installs our subscriber and logger for captures, unless the program has its own.
pub(crate) fn install_for_captures() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        inside::expect_captures();
        subscriber::install();
        subscriber::levels_changed();
    });
}

/// Returns whether events may reach us: through a layer, or through our subscriber or logger.
pub(crate) fn receives_events() -> bool {
    let own = subscriber::installed();
    LAYERED.load(Ordering::Relaxed) || own.subscriber || own.logger
}

fn swap(inside: Option<Arc<Inside>>) {
    inside::swap(inside);
    subscriber::levels_changed();
}

impl Logs {
    /// Takes the oldest waiting record; `None` if no record waits.
    pub(crate) fn next(&self) -> Option<LogRecord> {
        self.outputs.queue.as_ref()?.next()
    }

    /// Sets how many bytes of records may wait.
    pub(crate) fn set_queue_bytes(&self, bytes: usize) {
        self.outputs.queue.iter().for_each(|queue| queue.set_limit(bytes));
    }

    /// Returns the notification that is sent when records begin to fill the queue; `None` if records are disabled.
    pub(crate) fn filling(&self) -> Option<Arc<Notify>> {
        self.outputs.queue.as_ref().map(Queue::filling)
    }

    pub(crate) fn counts(&self) -> LogCounts {
        self.outputs.queue.as_ref().map(Queue::counts).unwrap_or_default()
    }

    /// Replaces the log filter, unless these logs were stopped or replaced.
    pub(crate) fn set_filter(&self, filter: LogFilter) {
        if self.is_current() {
            swap(Some(Arc::new(Inside { filter, outputs: self.outputs.clone() })));
        }
    }

    /// Pauses or resumes the creation of records. Lines are still written.
    pub(crate) fn pause(&self, paused: bool) {
        self.outputs.paused.store(paused, Ordering::Relaxed);
    }

    /// Stops creating records. Waiting records can still be taken. Lines are written until other logs are started:
    /// events after the end of telemetry are still useful.
    pub(crate) fn end(&self) {
        self.pause(true);
        if self.outputs.lines.is_some() {
            self.lines_stay.store(true, Ordering::Relaxed);
        } else {
            self.stop();
        }
    }

    /// Stops accepting events, unless other logs have replaced these. Waiting records can still be taken.
    pub(crate) fn stop(&self) {
        if self.is_current() {
            swap(None);
        }
    }

    /// Returns whether these logs are in use: not stopped, and not replaced by other logs.
    fn is_current(&self) -> bool {
        inside::current().is_some_and(|inside| Arc::ptr_eq(&inside.outputs, &self.outputs))
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        if !self.lines_stay.load(Ordering::Relaxed) {
            self.stop();
        }
        // Frees the records now: a thread that logs no more may keep the outputs for long.
        while self.next().is_some() {}
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
