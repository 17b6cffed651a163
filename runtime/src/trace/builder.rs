//! Spans whose name, parent or times are known only at run time.

use std::time::SystemTime;

use crate::base::table::Table;
use crate::declare::callsite::{Callsite, Kind};
use crate::declare::switch;
use crate::record::block::{BlockRef, RECORDING, UNIX_TIMES};
use crate::record::clock;
use crate::record::local;
use crate::record::sampling::Sampler;
use crate::trace::context::Context;
use crate::trace::open;
use crate::trace::span::{self, IntoLinks, IntoParent, Span};

/// The maximum number of different names per kind; further spans are named `other`.
const NAMES: usize = 1024;

static CALLSITES: [Table<Callsite>; 5] = [const { Table::new(NAMES) }; 5];
static OTHERS: [Callsite; 5] = [
    Callsite::unlinked("other", Kind::Internal),
    Callsite::unlinked("other", Kind::Server),
    Callsite::unlinked("other", Kind::Client),
    Callsite::unlinked("other", Kind::Producer),
    Callsite::unlinked("other", Kind::Consumer),
];

impl Span {
    /// Returns whether any span can be recorded; costs one atomic load. Call this before an expensive lookup of a name.
    ///
    /// ```
    /// use tracecast::Span;
    ///
    /// assert!(!Span::is_on());
    /// tracecast::testing::capture(|| assert!(Span::is_on()));
    /// ```
    #[doc(hidden)]
    #[inline]
    pub fn is_on() -> bool {
        switch::is_on()
    }

    /// Creates a builder for a span. The name is not validated. At most 1,024 different names per kind are kept, and further
    /// spans are named `other`, so a name must not contain an id.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    ///
    /// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Server).start().end());
    /// captured.assert_tree("Store/Get [server]");
    /// ```
    pub fn builder(name: &str, kind: Kind) -> SpanBuilder {
        // When recording is off, the name is not looked up.
        SpanBuilder::of(switch::is_on().then(|| callsite(name, kind)))
    }
}

/// A span name that is looked up once, for code that creates many spans with it.
///
/// ```
/// use tracecast::{__layers::SpanName, Kind};
///
/// let get = SpanName::new("Store/Get", Kind::Server);
/// let captured = tracecast::testing::capture(|| (get.builder().start(), get.builder().start()));
/// assert_eq!(captured.spans.len(), 0); // they are still open
/// # drop(captured.value);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SpanName(&'static Callsite);

impl SpanName {
    /// Interns a name, as [`Span::builder`] does.
    pub fn new(name: &str, kind: Kind) -> Self {
        SpanName(callsite(name, kind))
    }

    /// Creates a builder for a span of this name.
    #[inline]
    pub fn builder(self) -> SpanBuilder {
        SpanBuilder::of(switch::is_on().then_some(self.0))
    }

    /// Starts a span of this name below `parent`, or below the current span if `parent` is `None`. While recording is off, the
    /// span is absent, even with a parent; a [`builder`](SpanName::builder) would pass its parent on.
    ///
    /// ```
    /// use tracecast::{__layers::SpanName, Context, Kind, SpanId, TraceId};
    ///
    /// let get = SpanName::new("Store/Get", Kind::Server);
    /// let caller = Context::remote(TraceId(0xa), SpanId(0xb), true);
    /// let captured = tracecast::testing::capture(|| get.start(Some(&caller)).end());
    /// assert_eq!(captured.span("Store/Get").parent_span_id, Some(SpanId(0xb)));
    /// ```
    pub fn start(self, parent: Option<&Context>) -> Span {
        if !switch::is_on() {
            return Span::none();
        }
        let block = match parent {
            Some(parent) => open::open_under(self.0, parent),
            None => open::open_movable(self.0),
        };
        block.map_or_else(Span::none, |block| started(block, self.0))
    }
}

/// Describes a span before it is started.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use tracecast::{Kind, Span};
///
/// let captured = tracecast::testing::capture(|| {
///     let sent = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
///     let span = Span::builder("Queue/Wait", Kind::Consumer).with_start(sent).start();
///     span.end_at(sent + Duration::from_secs(2));
/// });
/// assert_eq!(captured.span("Queue/Wait").duration, Duration::from_secs(2));
/// ```
#[must_use = "the span starts with `start`"]
#[derive(Debug)]
pub struct SpanBuilder {
    callsite: Option<&'static Callsite>,
    parent: Option<Context>,
    start: Option<SystemTime>,
    links: Vec<Context>,
    sampler: Option<Sampler>,
}

impl SpanBuilder {
    #[inline]
    fn of(callsite: Option<&'static Callsite>) -> Self {
        SpanBuilder { callsite, parent: None, start: None, links: Vec::new(), sampler: None }
    }

    /// Sets the parent, instead of the current span. With an invalid context the span is a root.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let load = Span::builder("Store/Load", Kind::Internal).start();
    ///     Span::builder("Store/Read", Kind::Internal).with_parent(load.context()).start().end();
    /// });
    /// captured.assert_tree("
    ///     Store/Load
    ///       Store/Read
    /// ");
    /// ```
    pub fn with_parent(mut self, parent: impl IntoParent) -> Self {
        self.parent = Some(parent.into_parent());
        self
    }

    /// Makes the span a root, without baggage, even if a span is current.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Kind, Span};
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// let _load = tc_scope!("Store/Load");
    /// Span::builder("Store/Sweep", Kind::Internal).as_root().start().end();
    /// assert_eq!(recording.drain()[0].parent_span_id, None);
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    pub fn as_root(self) -> Self {
        self.with_parent(Context::default())
    }

    /// Sets the sampler to use if the span is a root, instead of the process's sampler. A span with a parent follows the parent's
    /// decision.
    ///
    /// ```
    /// use tracecast::{Kind, Sampler, Span};
    /// use tracecast::testing::{Recording, RecordingConfig};
    ///
    /// let recording = Recording::start(RecordingConfig::default())?;
    /// Span::builder("Health/Check", Kind::Server).with_sampler(Sampler::AlwaysOff).start().end();
    /// assert!(recording.drain().is_empty());
    /// # Ok::<(), tracecast::testing::AlreadyRecording>(())
    /// ```
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.sampler = Some(sampler);
        self
    }

    /// Sets the start time. Set the end time with [`Span::end_at`]; otherwise the span ends when it is dropped.
    pub fn with_start(mut self, start: SystemTime) -> Self {
        self.start = Some(start);
        self
    }

    /// Adds links to other spans.
    ///
    /// ```
    /// use tracecast::{Context, Kind, Span, SpanId, TraceId};
    ///
    /// let jobs = [0xb, 0xc].map(|id| Context::remote(TraceId(0xa), SpanId(id), true)).to_vec();
    /// let captured = tracecast::testing::capture(|| {
    ///     Span::builder("Worker/Sweep", Kind::Consumer).with_links(&jobs).start().end();
    /// });
    /// assert_eq!(captured.span("Worker/Sweep").links.len(), 2);
    /// ```
    pub fn with_links(mut self, links: impl IntoLinks) -> Self {
        links.for_each_link(&mut |context| self.links.push(context.clone()));
        self
    }

    /// Starts the span at the given start time, or now if none was set. While recording is off, returns a non-recording span
    /// that makes the parent current when it is entered, or an absent span if no parent was set.
    pub fn start(self) -> Span {
        let Some(callsite) = self.callsite else {
            return self.parent.map_or_else(Span::none, |parent| Span::non_recording(&parent, Kind::Internal));
        };
        let block = match (&self.parent, &self.sampler) {
            (None, None) => open::open_movable(callsite),
            (Some(parent), None) => open::open_under(callsite, parent),
            (None, Some(sampler)) => open::open_sampled(callsite, &Context::current(), sampler),
            (Some(parent), Some(sampler)) => open::open_sampled(callsite, parent, sampler),
        };
        let Some(block) = block else { return Span::none() };
        if block.has(RECORDING) {
            self.links.iter().for_each(|context| span::link(block, context));
        }
        let span = started(block, callsite);
        if let Some(start) = self.start.filter(|_| block.has(RECORDING)) {
            block.close();
            block.start.set(clock::unix_nanos(start));
            block.end.set(0);
            block.raise(UNIX_TIMES);
            block.open();
        }
        span
    }
}

/// Creates the span of this block, and starts its clock if the span is recorded.
fn started(block: BlockRef, callsite: &'static Callsite) -> Span {
    if block.has(RECORDING) {
        local::with(|local| span::start_clock(local, block, callsite));
    }
    Span::owning(block)
}

fn callsite(name: &str, kind: Kind) -> &'static Callsite {
    let table = &CALLSITES[kind as usize];
    let made = |_| Callsite::unlinked(String::from(name).leak(), kind);
    table
        .resolve(name, made)
        .and_then(|ordinal| table.get(ordinal))
        .map_or(&OTHERS[kind as usize], |(_, callsite)| callsite)
}
