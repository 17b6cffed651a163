//! The lowest-level API for recording: switch recording on, take finished spans, read the accounting.
//!
//! Exporters are built on this API. Use it directly in a program that only needs its spans in memory.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
#[cfg(any(has_otlp, test))]
use std::time::Duration;

use crate::declare::filter::Filter;
use crate::declare::key::Key;
use crate::declare::keys::open_seconds;
#[cfg(has_otlp)]
use crate::declare::keys::outcome;
use crate::declare::switch;
use crate::declare::value::OwnedValue;
#[cfg(has_otlp)]
use crate::record::block::{Head, REMOTE_PARENT, UNIX_TIMES};
use crate::record::clock::{self, Converter};
use crate::record::finished::{FinishedSpan, Link};
use crate::record::heartbeat::{self, OpenSpan};
use crate::record::ids::{Generator, SpanId, TraceId};
use crate::record::layout::{Record, attribute};
use crate::record::limits::{self, Limits};
use crate::record::recorder::{self, Accounting, Capacity, Memory, Recorder};
use crate::record::sampling::{self, Sampler};
use crate::trace::fork;

/// Settings of a recording: memory, sampler, limits of a span, and filter.
///
/// ```
/// use tracecast::Sampler;
/// use tracecast::testing::RecordingConfig;
///
/// let config = RecordingConfig::default()
///     .with_sampler(Sampler::Ratio(0.1))
///     .with_filter("*=on,Store/Heartbeat=off".parse()?);
/// # Ok::<(), tracecast::FilterError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordingConfig {
    /// Memory for open and finished spans. The memory is allocated once per process: later recordings use that of the first one.
    pub(crate) capacity: Capacity,
    /// The sampler of roots.
    pub(crate) sampler: Sampler,
    /// The limits of one span.
    pub(crate) limits: Limits,
    /// The filter of components.
    pub(crate) filter: Filter,
}

impl RecordingConfig {
    /// Sets the memory limits. Finished spans are stored in chunks of 16 KiB, and each thread that ends spans holds a chunk.
    /// Open spans are stored in blocks of 512 bytes; a span uses one block, or more if much is recorded on it. The memory is
    /// allocated once per process.
    ///
    /// ```
    /// # use tracecast::testing::RecordingConfig;
    /// let config = RecordingConfig::default().with_capacity(64, 1_024); // 1 MiB and 512 KiB
    /// ```
    #[must_use]
    pub fn with_capacity(self, chunks: usize, blocks: usize) -> Self {
        RecordingConfig { capacity: Capacity { chunks, blocks }, ..self }
    }

    /// Sets the sampler, which decides which roots are recorded.
    ///
    /// ```
    /// # use tracecast::{Sampler, testing::RecordingConfig};
    /// let config = RecordingConfig::default().with_sampler(Sampler::AlwaysOff);
    /// ```
    #[must_use]
    pub fn with_sampler(self, sampler: Sampler) -> Self {
        RecordingConfig { sampler, ..self }
    }

    /// Changes the limits of one span.
    ///
    /// ```
    /// # use tracecast::testing::RecordingConfig;
    /// let config = RecordingConfig::default().with_limits(|limits| limits.value_bytes = 256);
    /// ```
    #[must_use]
    pub fn with_limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets the filter, which decides which components record spans.
    ///
    /// ```
    /// # use tracecast::testing::RecordingConfig;
    /// let config = RecordingConfig::default().with_filter("Store/Heartbeat=off".parse()?);
    /// # Ok::<(), tracecast::FilterError>(())
    /// ```
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        RecordingConfig { filter, ..self }
    }
}

/// An active recording; dropping it switches recording off. There is at most one at a time.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::testing::{Recording, RecordingConfig};
///
/// #[tc_span("Store/Get")]
/// fn get() {}
///
/// let recording = Recording::start(RecordingConfig::default())?;
/// get();
/// assert_eq!(recording.drain()[0].name, "Store/Get");
/// # Ok::<(), tracecast::testing::AlreadyRecording>(())
/// ```
#[must_use = "recording stops when it is dropped"]
pub struct Recording {
    recorder: &'static Recorder,
    closed: AtomicBool,
    /// The counts before recording was switched on.
    #[cfg_attr(not(has_otlp), expect(dead_code, reason = "only a report of the export asks"))]
    before: Accounting,
}

/// Enables context propagation while nothing is recorded, for log lines and forwarded headers. A recording that starts later uses
/// the same memory.
pub(crate) fn prepare(memory: Memory) {
    fork::watch();
    recorder::install(memory);
}

/// The error of starting a recording while another one is active.
///
/// ```
/// use tracecast::testing::{AlreadyRecording, Recording, RecordingConfig};
///
/// let _recording = Recording::start(RecordingConfig::default())?;
/// assert_eq!(Recording::start(RecordingConfig::default()).err(), Some(AlreadyRecording));
/// # Ok::<(), AlreadyRecording>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyRecording;

impl fmt::Display for AlreadyRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("spans are already being recorded; a process can have only one recording at a time")
    }
}

impl std::error::Error for AlreadyRecording {}

impl Recording {
    /// Starts recording.
    ///
    /// ```
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// assert!(recording.drain().is_empty());
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    ///
    /// # Errors
    /// Fails if recording is already on.
    pub fn start(config: RecordingConfig) -> Result<Self, AlreadyRecording> {
        if !switch::claim_recording() {
            return Err(AlreadyRecording);
        }
        clock::start();
        fork::watch();
        let recorder = recorder::install(Memory::Exactly(config.capacity));
        sampling::set(&config.sampler);
        limits::set(config.limits);
        let before = recorder.accounting();
        switch::set_filter(config.filter);
        switch::start_recording();
        Ok(Recording { recorder, closed: AtomicBool::new(false), before })
    }

    /// Takes all spans that have ended, and a marker for each span whose heartbeat is due.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// Span::builder("Store/Get", Kind::Internal).start().end();
    /// assert_eq!(recording.drain().len(), 1);
    /// assert_eq!(recording.drain().len(), 0);
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    pub fn drain(&self) -> Vec<FinishedSpan> {
        let mut spans = Vec::new();
        self.take(|| true, |taken| spans.push(taken.finished()));
        spans
    }

    /// Lends each span that has ended to `visit` until `go_on` returns false, and then a marker for each span whose heartbeat is
    /// due. Returns whether all ended spans were taken.
    pub(crate) fn take(&self, go_on: impl Fn() -> bool, mut visit: impl FnMut(Taken<'_>)) -> bool {
        if !self.is_current() {
            return true;
        }
        let converter = clock::converter();
        let all = self.recorder.drain(go_on, |record| visit(Taken::Record(record, &converter)));
        let now = clock::now();
        for open in heartbeat::due(now, &converter) {
            visit(Taken::Marker(&marker(&open, now, &converter)));
        }
        all
    }

    /// Takes the open recorded spans that were not taken before, with ids, parent, name and start; the duration is the time
    /// since the start. Such a span is not taken again when it ends.
    #[cfg(has_otlp)]
    pub(crate) fn take_unfinished(&self, mut visit: impl FnMut(Taken<'_>)) {
        if !self.is_current() {
            return;
        }
        let converter = clock::converter();
        let (now, unix_now) = (clock::now(), clock::unix_now());
        for head in self.recorder.open_spans() {
            if self.recorder.take_unfinished(head.span_id) {
                let now = if head.flags & UNIX_TIMES != 0 { unix_now } else { now };
                visit(Taken::Marker(&unfinished(&head, now, &converter)));
            }
        }
    }

    /// Returns the names of the open recorded spans.
    #[cfg(has_otlp)]
    pub(crate) fn open_names(&self) -> Vec<&'static str> {
        let open = if self.is_current() { self.recorder.open_spans() } else { Vec::new() };
        open.iter().map(|head| head.callsite.name()).collect()
    }

    /// Switches recording off. Spans that have ended by now can still be taken.
    pub(crate) fn close(&self) {
        if self.is_current() && !self.closed.swap(true, AcqRel) {
            switch::stop_recording();
            limits::set(Limits::default());
        }
    }

    /// Returns the accounting of all spans so far; in a forked child, an empty one.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// let _open = Span::builder("Store/Get", Kind::Internal).start();
    /// assert_eq!(recording.accounting().open, 1);
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    pub fn accounting(&self) -> Accounting {
        if self.is_current() { self.recorder.accounting() } else { Accounting::default() }
    }

    /// Returns the counts before this recording began.
    #[cfg(has_otlp)]
    pub(crate) fn before(&self) -> Accounting {
        self.before
    }

    /// Returns whether this recording belongs to this process. In a forked child, a recording copied from the parent does not,
    /// and its methods take and count nothing.
    fn is_current(&self) -> bool {
        recorder::get().is_some_and(|recorder| std::ptr::eq(recorder, self.recorder))
    }

    /// Sets the sampler of roots. Traces that have begun are not affected.
    ///
    /// ```
    /// use tracecast::{Kind, Sampler, Span};
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// recording.set_sampler(&Sampler::AlwaysOff);
    /// Span::builder("Store/Get", Kind::Internal).start().end();
    /// assert!(recording.drain().is_empty());
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    pub fn set_sampler(&self, sampler: &Sampler) {
        sampling::set(sampler);
    }

    /// Sets the filter of components. Open spans are not affected.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// #[tc_span("Store/Heartbeat")]
    /// fn heartbeat() {}
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// recording.set_filter("Store/Heartbeat=off".parse()?);
    /// heartbeat();
    /// assert!(recording.drain().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_filter(&self, filter: Filter) {
        switch::set_filter(filter);
    }

    /// Records busy times (the time spent in polls) on the spans that this filter selects.
    #[cfg(feature = "__internals")]
    #[doc(hidden)]
    pub fn set_busy_times(&self, filter: Filter) {
        switch::set_busy(filter);
    }

    /// Switches stall detection on or off, for spans that begin from now on: threads then publish their polls for the watchdog.
    #[cfg(feature = "__internals")]
    #[doc(hidden)]
    pub fn set_watching(&self, watching: bool) {
        switch::set_watching(watching);
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.close();
    }
}

/// A span that `take` or `take_unfinished` lends to its visitor.
pub(crate) enum Taken<'a> {
    /// A finished span, in its recorded form.
    Record(&'a Record<'a>, &'a Converter),
    /// A marker of a span that is still open, or was open when recording ended.
    Marker(&'a FinishedSpan),
}

impl Taken<'_> {
    /// Converts the span into plain data.
    pub(crate) fn finished(&self) -> FinishedSpan {
        match self {
            Taken::Record(record, converter) => record.finish(converter),
            Taken::Marker(marker) => (*marker).clone(),
        }
    }
}

/// Returns a span that is still open when recording ends, with the data that is visible outside its owner and the outcome
/// attribute `unfinished`.
#[cfg(has_otlp)]
fn unfinished(head: &Head, now: u64, converter: &Converter) -> FinishedSpan {
    let [upper, lower] = head.trace_id;
    let (start, nanos) = match head.flags & UNIX_TIMES {
        0 => (converter.unix_nanos(head.start), converter.nanos(head.start, now)),
        _ => (head.start, now.saturating_sub(head.start)),
    };
    FinishedSpan {
        trace_id: TraceId(u128::from(upper) << 64 | u128::from(lower)),
        span_id: SpanId(head.span_id),
        parent_span_id: Some(SpanId(head.parent_id)).filter(|id| id.is_valid()),
        parent_is_remote: head.flags & REMOTE_PARENT != 0,
        start_unix_nanos: start,
        duration: Duration::from_nanos(nanos),
        attributes: vec![attribute(outcome::META, OwnedValue::Str(Cow::Borrowed("unfinished")))],
        ..FinishedSpan::of(head.callsite)
    }
}

/// Creates the marker of an open span: `<name>/open`, a sibling in its trace that links to it.
fn marker(open: &OpenSpan, now: u64, converter: &Converter) -> FinishedSpan {
    let ids = Generator::new();
    ids.ensure_seeded();
    let value = OwnedValue::F64(open.open_for.as_secs_f64());
    let link =
        Link { trace_id: TraceId(open.trace_id), span_id: SpanId(open.span_id), sampled: true, ..Link::default() };
    FinishedSpan {
        trace_id: TraceId(open.trace_id),
        span_id: SpanId(ids.span_id()),
        parent_span_id: Some(SpanId(open.parent_id)).filter(|id| id.is_valid()),
        start_unix_nanos: converter.unix_nanos(now),
        attributes: vec![attribute(open_seconds::META, value)],
        links: vec![link],
        name: Cow::Owned(format!("{}/open", open.callsite.name())),
        ..FinishedSpan::of(open.callsite)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::declare::callsite::{Callsite, Kind};

    static CALLSITE: Callsite = Callsite::unlinked("Drain/Node", Kind::Internal).heartbeat(30);

    #[test]
    fn a_marker_is_linked_to_the_span_that_is_open() {
        let open = OpenSpan::new(0xab, 0xcd, 0xef, &CALLSITE, Duration::from_secs(60));
        let marker = marker(&open, 5, &Converter::identity());
        assert_eq!((&*marker.name, marker.duration, marker.start_unix_nanos), ("Drain/Node/open", Duration::ZERO, 5));
        let link = Link { trace_id: TraceId(0xab), span_id: SpanId(0xcd), sampled: true, ..Link::default() };
        assert_eq!(marker.links, [link]);
        assert_eq!((marker.trace_id, marker.parent_span_id), (TraceId(0xab), Some(SpanId(0xef))));
        assert_eq!(marker.attribute("tc.open.seconds"), Some(&OwnedValue::F64(60.0)));
        assert_ne!(marker.span_id, SpanId(0xcd));
    }
}
