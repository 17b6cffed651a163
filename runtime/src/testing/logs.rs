//! Captures events of `tracing` and `log`, and compares them as lines.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use super::Captured;
use crate::config::Level;
use crate::logs::LogRecord;
use crate::record::finished::Attribute;
use crate::record::ids::{SpanId, TraceId};
use crate::trace::tree;

/// Makes captures record log events: installs a subscriber of `tracing` and a logger of `log` if the process has none.
///
/// Call this function at the start of each test that checks log events, unless the subscriber of the tests has
/// [`logs::layer()`](crate::logs::layer) or telemetry was started with logs. Otherwise captures record no log events.
///
/// The subscriber and the logger stay installed for the life of the process: installing another one afterwards fails, and
/// `tracing-subscriber`'s `init` panics.
///
/// ```
/// tracecast::testing::record_logs();
/// let captured = tracecast::testing::capture(|| log::warn!(target: "store", "disk is slow"));
/// captured.assert_logs("WARN store: disk is slow");
/// ```
pub fn record_logs() {
    crate::logs::install_for_captures();
}

/// A captured event of `tracing` or `log`. Prints as one line: `WARN store: disk is slow millis=30`.
///
/// ```
/// tracecast::testing::record_logs();
/// let captured = tracecast::testing::capture(|| tracing::warn!(target: "store", millis = 30, "disk is slow"));
/// assert_eq!(captured.logs[0].message, "disk is slow");
/// assert_eq!(captured.logs[0].to_string(), "WARN store: disk is slow millis=30");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CapturedLog {
    /// The level.
    pub level: Level,
    /// The target: by default the path of the module that logs the event.
    pub target: Cow<'static, str>,
    /// The message.
    pub message: Cow<'static, str>,
    /// The fields, without the source location.
    pub attributes: Vec<Attribute>,
    /// The trace id of the current span; `None` outside of spans.
    pub trace_id: Option<TraceId>,
    /// The id of the current span; `None` outside of spans.
    pub span_id: Option<SpanId>,
}

impl CapturedLog {
    /// Converts a [`LogRecord`]; `None` for a value of another type.
    pub(super) fn from_record(record: Box<dyn Any + Send>) -> Option<Self> {
        let record = *record.downcast::<LogRecord>().ok()?;
        let is_field = |key: &str| !matches!(key, "code.file.path" | "code.line.number");
        let attributes = record.attributes.into_iter().filter(|(key, _)| is_field(key));
        Some(CapturedLog {
            level: record.level,
            target: record.target,
            message: record.body,
            attributes: attributes.map(|(key, value)| Attribute { key, value }).collect(),
            trace_id: (record.trace_id != 0).then_some(TraceId(record.trace_id)),
            span_id: (record.span_id != 0).then_some(SpanId(record.span_id)),
        })
    }
}

impl fmt::Display for CapturedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = format!("{:?}", self.level).to_uppercase();
        let message = self.message.replace('\n', "\\n");
        write!(f, "{level} {}: {message}{}", self.target, tree::attributes(&self.attributes))
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "logs")))]
impl<R> Captured<R> {
    /// Returns the events of the levels `info`, `warn` and `error`, one line for each: `LEVEL target: message key=value ..`.
    /// Events of `debug` and `trace`, many of which come from libraries, are only in [`logs`](Self::logs).
    ///
    /// ```
    /// tracecast::testing::record_logs();
    /// let captured = tracecast::testing::capture(|| {
    ///     tracing::info!(target: "store", bytes = 5, "loaded");
    ///     tracing::debug!(target: "store", "a detail");
    /// });
    /// assert_eq!(captured.log_lines(), "INFO store: loaded bytes=5\n");
    /// ```
    pub fn log_lines(&self) -> String {
        self.logs.iter().filter(|log| log.level <= Level::Info).map(|log| format!("{log}\n")).collect()
    }

    /// Compares [`log_lines`](Self::log_lines) with `expected`, ignoring its common indentation.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Load")]
    /// fn load() {
    ///     tracing::info!(target: "store", bytes = 5, "loaded");
    ///     log::warn!(target: "store", "disk is slow");
    /// }
    ///
    /// tracecast::testing::record_logs();
    /// tracecast::testing::capture(load).assert_logs("
    ///     INFO store: loaded bytes=5
    ///     WARN store: disk is slow
    /// ");
    /// ```
    ///
    /// # Panics
    /// If the texts differ; the message shows both. Also if captures record no log events in this process.
    #[track_caller]
    pub fn assert_logs(&self, expected: &str) {
        assert!(
            crate::logs::receives_events(),
            "captures record no log events in this process: call `tracecast::testing::record_logs()` before the capture, or \
             add `tracecast::logs::layer()` to the subscriber"
        );
        self.assert_same("log lines", &self.log_lines(), expected);
    }
}
