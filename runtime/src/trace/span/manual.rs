//! Manual spans, which move with their owner.

use std::fmt;
use std::mem::ManuallyDrop;
use std::time::SystemTime;

use super::enter::{Inside, finish};
use super::relatives::IntoLinks;
use super::start::{Start, fail, link};
use crate::declare::callsite::Kind;
use crate::declare::key::{Key, KeyOf};
use crate::declare::value::IntoValue;
use crate::record::block::{BlockRef, RECORDING, UNIX_TIMES};
use crate::record::clock::{self, Moment};
use crate::record::fields::{self, Filled};
use crate::record::finished::Outcome;
use crate::record::local::{self, Local};
use crate::record::recorder;
use crate::trace::context::{self, Context};
use crate::trace::error;

/// A manual span: it moves with its owner, is entered with [`Span::in_scope`] or
/// [`FutureInSpan::in_span`](crate::FutureInSpan::in_span), and ends when it is dropped.
///
/// ```
/// use tracecast::{Kind, Span, keys};
///
/// let captured = tracecast::testing::capture(|| {
///     let mut span = Span::builder("Store/Get", Kind::Internal).start();
///     span.set(keys::tensor::artifact, "llama");
///     span.in_scope(|| tracecast::current().set(keys::size_bytes, 7_u64));
///     span.end();
/// });
/// captured.assert_tree("Store/Get tc.artifact.id=llama tc.size.bytes=7");
/// ```
#[must_use = "the span ends when it is dropped"]
pub struct Span {
    block: Option<BlockRef>,
}

// SAFETY: outside of `in_scope`, which borrows the span, the block is on no thread's stack.
unsafe impl Send for Span {}

impl Span {
    /// Creates a span that owns this block. The span may end on another thread.
    pub(crate) fn owning(block: BlockRef) -> Self {
        local::with(Local::depart);
        Span { block: Some(block) }
    }

    /// Creates an absent span, on which every method does nothing.
    ///
    /// ```
    /// use tracecast::Span;
    ///
    /// let mut span = Span::none();
    /// span.event("nobody sees this");
    /// assert!(span.is_none() && !span.is_recording());
    /// ```
    pub const fn none() -> Self {
        Span { block: None }
    }

    /// Creates a non-recording handle that makes `context` current when entered; cheaper than [`Context::attach`] on every poll.
    /// A bridged API treats it as a span of this kind. The handle is absent if no memory was left for it.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, Kind, Span, current};
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?;
    /// let mut place = Span::non_recording(&context, Kind::Internal);
    /// assert_eq!(place.in_scope(|| current().baggage("tenant")).as_deref(), Some("gold"));
    /// assert!(!place.is_recording());
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    #[doc(hidden)]
    pub fn non_recording(context: &Context, kind: Kind) -> Self {
        context.prepare();
        let block = local::with(|local| context::held(local, context, kind));
        block.map_or_else(Span::none, Span::owning)
    }

    /// Creates a non-recording handle if plenty of blocks are free. Otherwise returns an absent span, and the caller attaches
    /// the context where it is needed. For processes that record nothing and may hold any number of contexts.
    #[doc(hidden)]
    pub fn non_recording_if_plenty(context: &Context) -> Self {
        context.prepare();
        match recorder::get() {
            Some(recorder) if recorder.blocks.are_plenty() => Span::non_recording(context, Kind::Internal),
            _ => Span::none(),
        }
    }

    /// Returns whether the span is absent, for example because recording is off or no memory was left for it. A span that is
    /// present but not recorded is still the parent of the code that runs inside it.
    pub fn is_none(&self) -> bool {
        self.block.is_none()
    }

    /// Returns whether the span is recorded. Call this before an expensive computation.
    pub fn is_recording(&self) -> bool {
        self.recording().is_some()
    }

    /// Records an attribute; an earlier value of the key is replaced.
    ///
    /// ```
    /// use tracecast::{Kind, Span, keys};
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let mut span = Span::builder("Store/Put", Kind::Internal).start();
    ///     span.set(keys::size_bytes, 7_u64);
    ///     span.set(keys::size_bytes, 9_u64);
    /// });
    /// captured.assert_tree("Store/Put tc.size.bytes=9");
    /// ```
    pub fn set<K: Key>(&mut self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        if let Some(block) = self.recording() {
            value.with_value(|value| fields::set(block, K::META, value));
        }
    }

    /// Records an attribute whose key is not on this span yet. Unlike `set`, does not search for an earlier value.
    ///
    /// ```
    /// use tracecast::{Kind, Span, keys};
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     assert!(Span::is_on());
    ///     let mut span = Span::builder("Store/Get", Kind::Internal).start();
    ///     span.add(keys::tensor::artifact, "llama");
    ///     span.add(keys::size_bytes, 7_u64);
    /// });
    /// captured.assert_tree("Store/Get tc.artifact.id=llama tc.size.bytes=7");
    /// ```
    #[doc(hidden)]
    #[inline]
    pub fn add<K: Key>(&mut self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        if let Some(block) = self.recording() {
            value.with_value(|value| {
                fields::attribute_at(block, Filled::of(block), fields::bound(), K::META, value).store(block);
            });
        }
    }

    /// Adds several attributes whose keys are not on the span yet. `fields` runs only if the span is recorded, and must not end
    /// the span.
    #[doc(hidden)]
    #[inline]
    pub fn add_all(&mut self, fields: impl FnOnce(&mut Start)) {
        if let Some(block) = self.recording() {
            Start::fill_more(block, fields);
        }
    }

    /// Returns the start time of the span; `None` if the span is not recorded.
    #[doc(hidden)]
    #[inline]
    pub fn began(&self) -> Option<Moment> {
        self.recording().map(|block| Moment(block.start.get()))
    }

    /// Records an event.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    ///
    /// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Internal).start().event("miss"));
    /// assert_eq!(captured.span("Store/Get").events[0].name, "miss");
    /// ```
    pub fn event(&mut self, name: &'static str) {
        if let Some(block) = self.recording() {
            fields::event(block, name, None);
        }
    }

    /// Links the span to other spans.
    ///
    /// ```
    /// use tracecast::{Context, Kind, Span, SpanId, TraceId};
    ///
    /// let job = Context::remote(TraceId(0xa), SpanId(0xb), true);
    /// let captured = tracecast::testing::capture(|| Span::builder("Worker/Run", Kind::Internal).start().link(&job));
    /// assert_eq!(captured.span("Worker/Run").links[0].span_id, SpanId(0xb));
    /// ```
    pub fn link(&mut self, links: impl IntoLinks) {
        if let Some(block) = self.recording() {
            links.for_each_link(&mut |context| link(block, context));
        }
    }

    /// Records an error and marks the span as failed.
    ///
    /// ```
    /// use tracecast::{Kind, Outcome, Span};
    ///
    /// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Internal).start().error("gone"));
    /// assert_eq!(captured.span("Store/Get").outcome, Outcome::Error);
    /// ```
    pub fn error<E: fmt::Display + ?Sized>(&mut self, error: &E) {
        if let Some(block) = self.recording() {
            error::with_text(error, |info| fail(block, info));
        }
    }

    /// Returns the span's context, for children elsewhere; an invalid one if the span is absent.
    ///
    /// ```
    /// use tracecast::{Kind, Span};
    ///
    /// let captured = tracecast::testing::capture(|| Span::builder("Store/Get", Kind::Internal).start().context());
    /// assert_eq!(captured.value.span_id(), captured.span("Store/Get").span_id);
    /// ```
    pub fn context(&self) -> Context {
        self.block.map_or_else(Context::default, |block| local::with(|local| Context::of(local, block)))
    }

    /// Runs `f` inside the span.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Kind, Span};
    ///
    /// #[tc_span("Store/Read")]
    /// fn read() {}
    ///
    /// let load = || Span::builder("Store/Load", Kind::Internal).start();
    /// let captured = tracecast::testing::capture(|| load().in_scope(read));
    /// captured.assert_tree("
    ///     Store/Load
    ///       Store/Read
    /// ");
    /// ```
    pub fn in_scope<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _entered = self.block.map(Inside::<false>::enter);
        f()
    }

    /// Runs `f` inside the span as one poll of work that is entered repeatedly: stalls are detected, and busy times recorded.
    #[doc(hidden)]
    pub fn in_poll<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _entered = self.block.map(Inside::<true>::enter);
        f()
    }

    /// Ends the span now.
    pub fn end(self) {}

    /// Ends the span at the given time, if its start time was set with the builder. Otherwise the time is ignored, and the span
    /// ends now.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use tracecast::{Kind, Span};
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    ///     let span = Span::builder("Gpu/Kernel", Kind::Internal).with_start(start).start();
    ///     span.end_at(start + Duration::from_millis(3));
    /// });
    /// assert_eq!(captured.span("Gpu/Kernel").duration, Duration::from_millis(3));
    /// ```
    pub fn end_at(self, end: SystemTime) {
        if let Some(block) = self.recording() {
            block.end.set(clock::unix_nanos(end));
        }
    }

    /// Ends the span with this outcome at `end`, a moment that was read before.
    #[doc(hidden)]
    pub fn end_with_at(mut self, outcome: Outcome, end: Moment) {
        if let Some(block) = self.block.take() {
            local::with(|local| {
                local.arrive(block);
                finish(local, block, end.0, outcome);
            });
        }
    }

    /// Ends the span with this outcome.
    ///
    /// ```
    /// use tracecast::{Kind, Outcome, Span};
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     Span::builder("Store/Get", Kind::Internal).start().end_with(Outcome::Error);
    /// });
    /// captured.assert_tree("Store/Get error");
    /// ```
    pub fn end_with(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    pub(crate) fn into_block(self) -> Option<BlockRef> {
        ManuallyDrop::new(self).block
    }

    fn recording(&self) -> Option<BlockRef> {
        self.block.filter(|block| block.has(RECORDING))
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(block) = self.block.take() {
            let end = match () {
                () if !block.has(RECORDING) => 0,
                () if block.has(UNIX_TIMES) => unix_end(block),
                () => clock::now(),
            };
            local::with(|local| {
                local.arrive(block);
                finish(local, block, end, outcome);
            });
        }
    }
}

fn unix_end(block: BlockRef) -> u64 {
    let given = block.end.get();
    if given != 0 { given } else { clock::unix_now() }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.finish(Outcome::Ok);
    }
}
