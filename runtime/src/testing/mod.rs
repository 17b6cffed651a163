//! The test kit: captures the finished spans, metrics and log events of one test, and compares spans as a printed tree.
//!
//! ```
//! use tracecast::prelude::*;
//! use tracecast::testing::capture;
//!
//! #[tc_span("Store/Read", attrs(tracecast::keys::size_bytes = bytes))]
//! fn read(bytes: u64) -> Result<u64, std::io::Error> {
//!     if bytes == 0 { Err(std::io::Error::other("empty")) } else { Ok(bytes) }
//! }
//!
//! #[tc_span("Store/Load")]
//! fn load() {
//!     let _ = (read(7), read(0));
//! }
//!
//! capture(load).assert_tree("
//!     Store/Load
//!       Store/Read tc.size.bytes=7
//!       Store/Read error tc.size.bytes=0 error.type=io::Other error.message=empty
//! ");
//! ```
//!
//! Captures of tests that run at the same time are separate: a span belongs to the capture of the context in which the span is
//! created. A task or thread without that context creates its spans outside of the capture; `outside_capture` lists their
//! names. Spans of the OpenTelemetry API and of `tracing` are not captured: our spans below such a span get our nearest span
//! above it as their parent.

#[cfg(has_logs)]
mod logs;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

#[cfg(has_logs)]
#[cfg_attr(docsrs, doc(cfg(feature = "logs")))]
pub use self::logs::{CapturedLog, record_logs};
pub use crate::meter::exemplar::Exemplars;
pub use crate::meter::metering::{MetricsConfig, MetricsGuard};
pub use crate::meter::reader::Reader;
pub use crate::meter::snapshot::{
    ExemplarPoint, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot, Temporality,
};
pub use crate::record::finished::{Attribute, Event, FinishedSpan, Link};
pub use crate::record::limits::Limits;
pub use crate::record::recorder::{Accounting, Dropped};
pub use crate::trace::recording::{AlreadyRecording, Recording, RecordingConfig};

use crate::declare::amount::Measurement;
use crate::declare::switch;
use crate::meter::snapshot;
use crate::record::clock::{self, Converter};
use crate::record::propagated::{Propagated, Sink};
use crate::record::recorder::{self, DEFAULT_MEMORY_LIMIT, Memory};
use crate::trace::context::Context;
use crate::trace::fork;
use crate::trace::future::FutureInSpan;
use crate::trace::{arrivals, outside_capture, tree};

/// Runs `f` and returns its value with the finished spans, the metrics and the log events that were created in its context.
/// Log events require `record_logs`.
///
/// If the captured code called a server in this process that has not finished its work, waits up to one second for it.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Get")]
/// fn get() -> u64 {
///     7
/// }
///
/// let captured = tracecast::testing::capture(get);
/// assert_eq!(captured.value, 7);
/// captured.assert_tree("Store/Get");
/// ```
pub fn capture<R>(f: impl FnOnce() -> R) -> Captured<R> {
    let capture = Capture::begin();
    let value = capture.context().run(f);
    let since = Instant::now();
    while capture.waits(since) {
        std::thread::sleep(LOOK_AGAIN);
    }
    capture.end(value)
}

/// Like [`capture`], for async code: `capture_async(work).await` in a `#[tokio::test]`, or with an async closure.
///
/// The argument is a function that creates the future, because an annotated `async fn` determines its parent when the
/// function is called.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::testing::capture_async;
///
/// #[tc_span("Store/Get")]
/// async fn get() {}
///
/// # futures::executor::block_on(async {
/// let captured = capture_async(get).await;
/// captured.assert_tree("Store/Get");
/// # });
/// ```
pub async fn capture_async<F: Future>(make: impl FnOnce() -> F) -> Captured<F::Output> {
    let capture = Capture::begin();
    let context = capture.context();
    let value = context.run(make).in_context(&context).await;
    let (since, mut yielded) = (Instant::now(), false);
    // A server may finish its work for the captured code a little later, and may need this thread to do so.
    std::future::poll_fn(|task| match capture.waits(since) {
        false => Poll::Ready(()),
        true => {
            if std::mem::replace(&mut yielded, true) {
                std::thread::sleep(LOOK_AGAIN);
            }
            task.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
    capture.end(value)
}

/// The longest time that a capture waits for servers of this process to finish their work for the captured code.
const AT_MOST: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// A capture in progress.
struct Capture {
    collected: Arc<Collected>,
    outside_capture: usize,
}

struct Collected {
    /// Converts the clock readings of all spans of the capture, so that times are in the same order as readings.
    converter: Converter,
    spans: Mutex<Vec<FinishedSpan>>,
    measurements: Mutex<Vec<Measurement>>,
    #[cfg(has_logs)]
    logs: Mutex<Vec<CapturedLog>>,
}

impl Sink for Collected {
    fn converter(&self) -> Converter {
        self.converter
    }

    fn finished(&self, span: FinishedSpan) {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }

    fn measured(&self, measurement: Measurement) {
        self.measurements.lock().unwrap_or_else(PoisonError::into_inner).push(measurement);
    }

    #[cfg(has_logs)]
    fn logged(&self, record: Box<dyn std::any::Any + Send>) {
        let log = CapturedLog::from_record(record);
        self.logs.lock().unwrap_or_else(PoisonError::into_inner).extend(log);
    }
}

impl Capture {
    fn begin() -> Self {
        clock::start();
        fork::watch();
        recorder::install(Memory::Within(DEFAULT_MEMORY_LIMIT));
        switch::begin_capture();
        #[cfg(has_logs)]
        crate::logs::prepare_captures();
        let collected = Arc::new(Collected {
            converter: clock::converter(),
            spans: Mutex::default(),
            measurements: Mutex::default(),
            #[cfg(has_logs)]
            logs: Mutex::default(),
        });
        Capture { collected, outside_capture: outside_capture::count() }
    }

    fn context(&self) -> Context {
        Context::from_propagated(Propagated { sink: Some(self.collected.clone()), ..Propagated::default() })
    }

    /// Returns whether a server of this process still works for the captured code; false once `AT_MOST` has passed.
    fn waits(&self, since: Instant) -> bool {
        let sink: Arc<dyn Sink> = self.collected.clone();
        arrivals::is_open(&sink) && since.elapsed() < AT_MOST
    }

    fn end<R>(self, value: R) -> Captured<R> {
        let mut spans = std::mem::take(&mut *self.collected.spans.lock().unwrap_or_else(PoisonError::into_inner));
        spans.sort_by_key(|span| span.start_unix_nanos);
        let measurements = self.collected.measurements.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = snapshot::of_measurements(&measurements);
        drop(measurements);
        Captured {
            value,
            spans,
            metrics,
            #[cfg(has_logs)]
            logs: std::mem::take(&mut *self.collected.logs.lock().unwrap_or_else(PoisonError::into_inner)),
            outside_capture: outside_capture::since(self.outside_capture),
        }
    }
}

/// Ends the capture, even if the captured code panics.
impl Drop for Capture {
    fn drop(&mut self) {
        switch::end_capture();
    }
}

/// The result of a capture. Prints as the tree of the captured spans.
///
/// ```
/// use tracecast::prelude::*;
///
/// #[tc_span("Store/Read")]
/// fn read() {}
///
/// let captured = tracecast::testing::capture(|| (0..3).for_each(|_| read()));
/// assert_eq!(captured.spans_named("Store/Read").len(), 3);
/// assert_eq!(captured.to_string(), captured.tree());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Captured<R = ()> {
    /// The value that the captured code returned.
    pub value: R,
    /// The finished spans, sorted by start.
    pub spans: Vec<FinishedSpan>,
    /// The metrics with their points, sorted by name. Observable gauges are missing, because a capture does not call
    /// their callbacks.
    pub metrics: Vec<MetricPoints>,
    /// The events of `tracing` and `log` of all levels, in the order in which they were logged, if [`record_logs`] was
    /// called or the subscriber has our layer.
    #[cfg(has_logs)]
    #[cfg_attr(docsrs, doc(cfg(feature = "logs")))]
    pub logs: Vec<CapturedLog>,
    /// The names of spans and metrics that were recorded outside of any capture while this one was running, by this test or
    /// by concurrent tests without captures. At most the last 256.
    pub outside_capture: Vec<&'static str>,
}

impl<R> Captured<R> {
    /// Returns the span with this name.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Get")]
    /// fn get() {}
    ///
    /// let captured = tracecast::testing::capture(get);
    /// assert!(captured.span("Store/Get").attributes.is_empty());
    /// ```
    ///
    /// # Panics
    /// If there is no such span, or more than one.
    #[track_caller]
    pub fn span(&self, name: &str) -> &FinishedSpan {
        let found: Vec<_> = self.spans.iter().filter(|span| span.name == name).collect();
        match found[..] {
            [span] => span,
            [] => panic!("no span `{name}` was captured; the captured spans are:\n{self}"),
            _ => panic!("expected one span `{name}`, captured {}:\n{self}", found.len()),
        }
    }

    /// Returns the spans with this name.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     drop(tc_scope!("Store/Get"));
    ///     drop(tc_scope!("Store/Put"));
    /// });
    /// assert_eq!(captured.spans_named("Store/Put").len(), 1);
    /// assert!(captured.spans_named("Store/List").is_empty());
    /// ```
    pub fn spans_named(&self, name: &str) -> Vec<&FinishedSpan> {
        self.spans.iter().filter(|span| span.name == name).collect()
    }

    /// Returns the tree of spans with all their data: `name [kind] outcome key=value ..`, events as `- event`, links as
    /// `~ name`. Kind `internal` and outcome `ok` are omitted.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Get", attrs(tracecast::keys::tensor::artifact = name))]
    /// fn get(name: &str) {}
    ///
    /// let captured = tracecast::testing::capture(|| get("llama"));
    /// assert_eq!(captured.tree(), "Store/Get tc.artifact.id=llama\n");
    /// ```
    pub fn tree(&self) -> String {
        tree::full(&self.spans)
    }

    /// Returns the tree of names and outcomes only.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Get", attrs(tracecast::keys::tensor::artifact = name))]
    /// fn get(name: &str) {}
    ///
    /// let captured = tracecast::testing::capture(|| get("llama"));
    /// assert_eq!(captured.outline(), "Store/Get\n");
    /// ```
    pub fn outline(&self) -> String {
        tree::outline(&self.spans)
    }

    /// Returns the value of the metric with this name at the point that has these labels. The point may have other labels
    /// as well; if several points match, the one with exactly these labels is used. `None` if no point matches.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_metric(calls = "tc_example_gets_total", labels(tracecast::keys::device = device))]
    /// fn get(device: u32) {}
    ///
    /// let captured = tracecast::testing::capture(|| (get(1), get(2), get(2)));
    /// let calls = captured.metric("tc_example_gets_total", &[("tc.device.id", "2")]);
    /// assert_eq!(calls.map(|value| value.as_f64()), Some(2.0));
    /// ```
    ///
    /// # Panics
    /// If several points match and none has exactly these labels. The message shows all metrics.
    #[track_caller]
    pub fn metric(&self, name: &str, labels: &[(&str, &str)]) -> Option<&PointValue> {
        let metric = self.metrics.iter().find(|metric| metric.name == name)?;
        let has = |point: &Point, (key, text): &(&str, &str)| {
            point.labels.iter().any(|(known, value)| known == key && value.to_string() == *text)
        };
        let found = || metric.points.iter().filter(|point| labels.iter().all(|label| has(point, label)));
        match found().count() {
            0 | 1 => found().next().map(|point| &point.value),
            several => metric.value(labels).or_else(|| {
                panic!(
                    "{several} points of `{name}` have the labels {labels:?}; add labels until one is left:\n{}",
                    self.metric_lines()
                )
            }),
        }
    }

    /// Returns the points of the metrics, one line each: `name{label=text, ..} value`. For a histogram the value is
    /// `count=` and its count.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_metric(calls = "tc_example_lists_total")]
    /// fn list() {}
    ///
    /// let captured = tracecast::testing::capture(list);
    /// assert_eq!(captured.metric_lines(), "tc_example_lists_total{outcome=ok} 1\n");
    /// ```
    pub fn metric_lines(&self) -> String {
        self.metrics.iter().map(MetricPoints::to_string).collect()
    }

    /// Compares [`metric_lines`](Self::metric_lines) with `expected`, ignoring its common indentation.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_metric(calls = "tc_example_puts_total")]
    /// fn put() {}
    ///
    /// tracecast::testing::capture(put).assert_metrics("tc_example_puts_total{outcome=ok} 1");
    /// ```
    ///
    /// # Panics
    /// If the texts differ. The message shows both.
    #[track_caller]
    pub fn assert_metrics(&self, expected: &str) {
        self.assert_same("metrics", &self.metric_lines(), expected);
    }

    /// Compares [`tree`](Self::tree) with `expected`, ignoring its common indentation.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Get", kind = client, attrs(tracecast::keys::tensor::artifact = name))]
    /// fn get(name: &str) {}
    ///
    /// tracecast::testing::capture(|| get("llama")).assert_tree("
    ///     Store/Get [client] tc.artifact.id=llama
    /// ");
    /// ```
    ///
    /// # Panics
    /// If the texts differ. The message shows both.
    #[track_caller]
    pub fn assert_tree(&self, expected: &str) {
        self.assert_same("spans", &self.tree(), expected);
    }

    /// Compares [`outline`](Self::outline) with `expected`, ignoring its common indentation.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Get", attrs(tracecast::keys::tensor::artifact = name))]
    /// fn get(name: &str) {}
    ///
    /// tracecast::testing::capture(|| get("llama")).assert_outline("Store/Get");
    /// ```
    ///
    /// # Panics
    /// If the texts differ. The message shows both.
    #[track_caller]
    pub fn assert_outline(&self, expected: &str) {
        self.assert_same("spans", &self.outline(), expected);
    }

    #[track_caller]
    fn assert_same(&self, what: &str, actual: &str, expected: &str) {
        let expected = tree::dedent(expected);
        if *actual != expected {
            let outside_capture = if self.outside_capture.is_empty() {
                String::new()
            } else {
                format!("\noutside of the capture: {:?}", self.outside_capture)
            };
            panic!("the {what} differ\n{}{outside_capture}", tree::difference(&expected, actual));
        }
    }
}

impl<R> fmt::Display for Captured<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tree())
    }
}
