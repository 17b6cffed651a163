//! Log events of `tracing` and `log`: as lines that name their trace, and as OTLP log records.
//!
//! A program without a subscriber of its own needs nothing of this module: telemetry that is started with logs switched on
//! installs one, and a logger for `log`, where there is none. Who has a subscriber adds [`layer`] to it:
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt;
//!
//! let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
//! tracing::subscriber::with_default(subscriber, || tracing::info!(bytes = 5, "loaded"));
//! ```
//!
//! [`with_ids()`] adds the ids of traces to lines that the program's own subscriber writes.
//!
//! Install your own subscriber and logger before telemetry is started: what comes second is refused by `tracing` and by
//! `log`, and `tracing-subscriber`'s `init` panics then.
//!
//! # Lines
//! A line is one JSON object, or on a terminal text for people. The object has `timestamp` (RFC 3339, UTC), `level`,
//! `service`, `target` and `message`; `trace_id`, `span_id` and `trace_flags` wherever a span is active, sampled or not;
//! and the fields of the event beside them. A field that has one of these names stands in an object `fields` instead, so
//! that nobody can pass for the trace or the level of a line. Of fields with the same name the last one counts. Texts are
//! cut at the limit for values, and end with `…` then, in lines and in records; fields past the limit for attributes are left out, and `dropped_fields` says how many.
//! Numbers that JSON does not have (NaN, infinities, integers of more than 64 bits) are text. An error that is given as
//! `&dyn Error` is written with its sources.
//!
//! No line contains a control character, whatever was logged: line ends, escape sequences of terminals and marks that turn
//! the direction of writing are escaped.
//!
//! Lines go to standard error, and nobody waits for whoever reads it: see the book's chapter on logs.
//!
//! # Records
//! A record has the severity, the message as its body, the fields with their types as attributes, `code.file.path` and
//! `code.line.number`, and the ids of the active span. The target is the name of the instrumentation scope, which is where
//! OpenTelemetry has the name of a logger and where backends look for it.
//!
//! # What is left out
//! With `tracing`'s feature `log-always` each event comes a second time, through `log`; it is known by its callsite, and left
//! out. An event that is made while its thread handles another one (by a `Display` that logs) is dropped and counted. Events of
//! the thread that exports become no records, and lines from `warn` on only: telemetry about telemetry would never end.

mod entry;
mod escape;
mod event;
mod inside;
mod line;
mod logger;
mod own;
mod queue;
mod record;
mod time;
mod with_ids;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use tokio::sync::Notify;
use tracing_core::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

pub(crate) use self::line::{Sink, notices};
#[cfg(feature = "__internals")]
pub(crate) use self::own::installed;
pub(crate) use self::queue::LogCounts;
#[doc(hidden)]
pub use self::record::LogRecord;
pub use self::with_ids::{WithIds, with_ids};

use self::inside::{Inside, Outputs};
use self::line::Writer;
use self::queue::Queue;
use crate::config::redact::Redact;
use crate::config::{LogFilter, LogFormat, LogLimits};
use crate::trace::fork;

/// A layer for a subscriber of your own. It hands events to telemetry for as long as that runs with logs switched on.
///
/// Which events are wanted is decided inside, so that other layers see what they would see without this one.
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

/// Whether the program has asked for a layer.
static LAYERED: AtomicBool = AtomicBool::new(false);

/// Whether the program has a subscriber of its own, and whether that may have our layer.
pub(crate) fn foreign_subscriber() -> Option<bool> {
    let foreign = tracing_core::dispatcher::has_been_set() && !own::installed().subscriber;
    foreign.then(|| LAYERED.load(Ordering::Relaxed))
}

/// What [`layer`] gives.
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

/// How logs are handled.
pub(crate) struct LogsConfig {
    pub(crate) service: String,
    pub(crate) filter: LogFilter,
    /// Whether there are lines, and how they look.
    pub(crate) lines: LogFormat,
    /// Where lines go instead of standard error.
    pub(crate) sink: Option<Sink>,
    /// What one line or record may hold.
    pub(crate) limits: LogLimits,
    /// Whether there are records.
    pub(crate) records: Option<RecordsConfig>,
    pub(crate) redact: Option<Redact>,
    /// Whether a subscriber and a logger of ours are installed where there is none.
    pub(crate) install: bool,
}

/// How records are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordsConfig {
    /// Bytes that may wait for the export thread, until it changes that.
    pub(crate) queue_bytes: usize,
}

/// Logs run for as long as this lives.
#[must_use = "logs stop when this is dropped"]
pub(crate) struct Logs {
    outputs: Arc<Outputs>,
    /// Lines outlive it.
    lines_stay: AtomicBool,
}

/// Starts logs, in place of those that were started before.
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
        own::install();
    }
    swap(Some(Arc::new(Inside { filter, outputs: outputs.clone() })));
    Logs { outputs, lines_stay: AtomicBool::new(false) }
}

/// Prepares the process for captures of tests: opens all levels of whatever hands events to us.
pub(crate) fn prepare_captures() {
    // Others wait for the first one: their events would be lost before it is done.
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        inside::expect_captures();
        own::levels_changed();
    });
}

/// Installs a subscriber and a logger for captures where there is none.
pub(crate) fn install_for_captures() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        inside::expect_captures();
        own::install();
        own::levels_changed();
    });
}

/// Whether events may come to us: from a layer, or from a subscriber or logger of ours.
pub(crate) fn receives_events() -> bool {
    let own = own::installed();
    LAYERED.load(Ordering::Relaxed) || own.subscriber || own.logger
}

fn swap(inside: Option<Arc<Inside>>) {
    inside::swap(inside);
    own::levels_changed();
}

impl Logs {
    /// Takes the oldest record that waits.
    pub(crate) fn next(&self) -> Option<LogRecord> {
        self.outputs.queue.as_ref()?.next()
    }

    /// Changes how many bytes of records may wait.
    pub(crate) fn set_queue_bytes(&self, bytes: usize) {
        self.outputs.queue.iter().for_each(|queue| queue.set_limit(bytes));
    }

    /// Told when records begin to fill the queue.
    pub(crate) fn filling(&self) -> Option<Arc<Notify>> {
        self.outputs.queue.as_ref().map(Queue::filling)
    }

    pub(crate) fn counts(&self) -> LogCounts {
        self.outputs.queue.as_ref().map(Queue::counts).unwrap_or_default()
    }

    /// Changes which events are wanted.
    pub(crate) fn set_filter(&self, filter: LogFilter) {
        if self.is_current() {
            swap(Some(Arc::new(Inside { filter, outputs: self.outputs.clone() })));
        }
    }

    /// Makes no records for now, or goes on with it. Lines are written all the same.
    pub(crate) fn pause(&self, paused: bool) {
        self.outputs.paused.store(paused, Ordering::Relaxed);
    }

    /// Makes no more records. What waits can still be taken. Lines are written until others are started in its place: what a
    /// program logs after its telemetry has ended is still worth reading.
    pub(crate) fn end(&self) {
        self.pause(true);
        if self.outputs.lines.is_some() {
            self.lines_stay.store(true, Ordering::Relaxed);
        } else {
            self.stop();
        }
    }

    /// Lets nothing more in. What waits can still be taken.
    pub(crate) fn stop(&self) {
        if self.is_current() {
            swap(None);
        }
    }

    /// Whether no others were started in place of these.
    fn is_current(&self) -> bool {
        inside::current().is_some_and(|inside| Arc::ptr_eq(&inside.outputs, &self.outputs))
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        if !self.lines_stay.load(Ordering::Relaxed) {
            self.stop();
        }
        // A thread that logs nothing more may keep the outputs for long; their memory need not wait for it.
        while self.next().is_some() {}
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
