//! Futures inside spans: the span is entered at each poll, ends when the future completes, and is recorded as cancelled if the
//! future is dropped earlier.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use crate::declare::callsite::Callsite;
use crate::record::block::{
    BRIDGED, BlockRef, ENDED_BY_ERROR, HAS_PROPAGATED, RECORDING, REMOTE, TIMED, UNPOLLED, UNWOUND, WATCHED,
};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local::{self, Local};
use crate::record::polls;
use crate::trace::context::{self, Context};
use crate::trace::metrics::Metrics;
use crate::trace::observe::{Observe, Probe, Seen};
use crate::trace::open;
use crate::trace::span::{self, OnStack, Span};

/// The span and metrics of a future or stream, if it has any. The span is entered at each poll. Span and metrics end when the
/// future or stream completes, or as abandoned if it is dropped earlier. Their clocks start with the first poll; without a poll,
/// no span is recorded.
pub struct Carried<M: Metrics = ()> {
    pub(super) span: Option<BlockRef>,
    pub(super) metrics: M,
}

// SAFETY: the block moves with its owner, and is on a thread's stack only while that thread polls or drops the owner.
unsafe impl<M: Metrics> Send for Carried<M> {}
// SAFETY: a shared reference gives no access.
unsafe impl<M: Metrics> Sync for Carried<M> {}

impl<M: Metrics> Carried<M> {
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Carried { span: None, metrics: M::none() }
    }

    /// Carries an opened span and new metrics, whose clocks have not started.
    pub(crate) fn begun(span: Option<BlockRef>, mut metrics: M) -> Self {
        if let Some(block) = span {
            local::with(|local| depart(local, block));
        }
        metrics.if_dropped(Outcome::Cancelled);
        Carried { span, metrics }
    }

    #[inline(always)]
    pub(super) fn is_off(&self) -> bool {
        self.span.is_none() && self.metrics.is_none()
    }

    /// Takes the span and the metrics out, leaving none.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Self {
        Carried { span: self.span.take(), metrics: self.metrics.take() }
    }

    /// Enters the span for one poll.
    pub(super) fn enter(&mut self) -> Option<Polling> {
        let polling = self.span.map(Polling::enter);
        self.run_metrics();
        polling
    }

    /// Enters the span for the call that creates the future or stream; that call is no poll.
    fn enter_making(&mut self) -> Option<Polling> {
        let polling = self.span.map(Polling::enter_making);
        self.run_metrics();
        polling
    }

    /// Leaves the span after the poll.
    pub(super) fn leave(&mut self, polling: Option<Polling>) {
        if let Some(polling) = polling {
            polling.leave_uncommon();
        }
        self.metrics.if_dropped(Outcome::Cancelled);
    }

    #[inline(always)]
    fn run_metrics(&mut self) {
        if !self.metrics.is_none() {
            self.metrics.start(span::start_reading(self.span));
            self.metrics.if_dropped(Outcome::Panicked);
        }
    }

    /// Ends the span of a completed future or stream, at a clock reading.
    #[inline(always)]
    pub(super) fn complete(&mut self, end: u64) {
        if let Some(block) = self.span.take() {
            completed(block, end);
        }
    }
}

impl Carried {
    /// Carries a manual span, whose clock is running.
    pub(crate) fn of(span: Span) -> Self {
        Carried { span: span.into_block(), metrics: () }
    }

    /// Carries a context, which is entered at each poll; carries nothing if no block is free.
    pub(crate) fn context(context: &Context) -> Self {
        context.prepare();
        let Some(block) = local::with(|local| local.acquire()) else { return Carried::none() };
        context::fill(block, context);
        if block.has(REMOTE | HAS_PROPAGATED) {
            local::with(|local| context::share_capture(local, block));
        }
        Carried::begun(Some(block), ())
    }
}

impl<M: Metrics> Carried<M> {
    /// Leaves a span that a call has entered, and carries the span and the call's metrics from then on.
    pub(crate) fn left(span: Option<BlockRef>, mut metrics: M) -> Self {
        if let Some(block) = span {
            Polling(block).leave_uncommon();
            local::with(Local::depart);
        }
        metrics.if_dropped(Outcome::Cancelled);
        Carried { span, metrics }
    }

    /// Starts the clocks and enters the span, for a function that creates its future or stream in several steps.
    #[inline(always)]
    pub fn making(mut self) -> Making<M> {
        let polling = if self.is_off() { None } else { self.enter_making() };
        Making { polling, carried: self }
    }
}

/// The span and metrics of a future or stream, while the body of its function creates it inside the span. If the body panics,
/// both end as panicked.
pub struct Making<M: Metrics = ()> {
    // Dropped first: it leaves the span and marks it as panicked.
    polling: Option<Polling>,
    carried: Carried<M>,
}

impl<M: Metrics> Making<M> {
    /// Leaves the span, which now ends with the future or stream.
    #[inline(always)]
    pub fn made(mut self) -> Carried<M> {
        if !self.carried.is_off() {
            self.carried.leave(self.polling.take());
        }
        self.carried
    }
}

/// Ends a span that did not complete, because its future or stream was dropped or panicked.
impl<M: Metrics> Drop for Carried<M> {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.span {
            abandon(block);
        }
    }
}

/// Marks a span opened on this thread as one that may be polled and ended on another thread. A recorded span is also marked as
/// not polled yet; a context needs no such mark, because it has no clock to start.
#[inline(always)]
fn depart(local: &Local, block: BlockRef) {
    local.depart();
    if block.has(RECORDING) {
        block.raise(UNPOLLED);
    }
}

#[inline(never)]
fn completed(block: BlockRef, end: u64) {
    finish(block, end, Outcome::Ok);
}

/// Leaves the span in its last poll, and ends it.
#[inline(never)]
fn end_recorded(polling: Polling, end: u64) {
    let Polling(block) = *ManuallyDrop::new(polling);
    local::with(|local| {
        local.pop_to(block);
        local.arrive(block);
        polls::record(local, block, end);
    });
}

/// Leaves a context in its last poll, and releases its block.
#[inline(never)]
fn end_unrecorded(polling: Polling) {
    let Polling(block) = *ManuallyDrop::new(polling);
    local::with(|local| {
        local.pop_to(block);
        local.release_arriving(block);
    });
}

#[cold]
#[inline(never)]
fn abandon(block: BlockRef) {
    let outcome = match () {
        () if block.has(UNWOUND) => Outcome::Panicked,
        () if block.has(ENDED_BY_ERROR) => Outcome::Error,
        () => Outcome::Cancelled,
    };
    let end = if block.has(RECORDING) { clock::now() } else { 0 };
    finish(block, end, outcome);
}

fn finish(block: BlockRef, end: u64, outcome: Outcome) {
    local::with(|local| {
        local.arrive(block);
        // Never polled, so there is no span.
        if block.has(UNPOLLED) {
            return local.release(block);
        }
        span::finish(local, block, end, outcome);
    });
}

/// Starts the clock of a recorded span at its first poll. Takes the block by value, so that a poll keeps it in a register.
#[inline(never)]
fn start(block: BlockRef) {
    block.lower(UNPOLLED);
    local::with(|local| span::start_clock(local, block, block.callsite.get()));
}

/// Starts the clock at the first poll, and the measurement of the poll if the span is timed or watched.
#[inline(never)]
fn start_or_observe(block: BlockRef) {
    if block.has(UNPOLLED) {
        start(block);
    }
    if block.has(OBSERVED) {
        polls::enter(block, block.flags.get());
    }
}

/// The flags of spans whose polls are observed.
const OBSERVED: u32 = TIMED | WATCHED;

/// The entered span of one poll. If dropped, the poll has panicked.
pub(super) struct Polling(BlockRef);

impl Polling {
    fn enter(block: BlockRef) -> Self {
        local::with(|local| context::note(local, block));
        if block.has(UNPOLLED | OBSERVED) {
            start_or_observe(block);
        }
        Polling::enter_started(block)
    }

    fn enter_making(block: BlockRef) -> Self {
        local::with(|local| context::note(local, block));
        if block.has(UNPOLLED) {
            start(block);
        }
        let entered = Polling::enter_started(block);
        if block.has(WATCHED) {
            local::with(polls::publish_innermost);
        }
        entered
    }

    /// Leaves a span that was entered by `enter` or `enter_making`.
    fn leave_uncommon(self) {
        let block = self.leave();
        bridge::left(block);
        if block.has(OBSERVED) {
            polls::leave(block, block.flags.get(), true);
        }
    }

    /// Enters a span whose clock runs. A bridged API was notified before, or need not be.
    #[inline(always)]
    fn enter_started(block: BlockRef) -> Self {
        local::with(|local| local.push(block));
        Polling(block)
    }

    #[inline(always)]
    fn leave(self) -> BlockRef {
        let Polling(block) = *ManuallyDrop::new(self);
        local::with(|local| local.pop_to(block));
        block
    }
}

impl Drop for Polling {
    #[inline(always)]
    fn drop(&mut self) {
        unwound(self.0);
    }
}

/// Removes the span from the stack and marks it as panicked. Takes the block by value, as `start` does.
#[cold]
#[inline(never)]
fn unwound(block: BlockRef) {
    block.raise(UNWOUND);
    local::with(|local| local.pop_to(block));
    bridge::left(block);
    // WATCHED is added, because the flags are cleared if the panic has already ended the span of this block.
    polls::leave(block, block.flags.get() | WATCHED, true);
}

/// Drops an uncompleted future or stream inside its span. Span and metrics end with it, also if its destructor panics.
#[cold]
#[inline(never)]
pub(super) fn drop_inside<T, M: Metrics>(mut carried: Carried<M>, wrapped: &mut ManuallyDrop<T>) {
    // Dropped in reverse order: the metrics end inside the span, which ends last. A clock that has not started is not started.
    let _on_stack = carried.span.map(OnStack::enter);
    let _metrics = carried.metrics.take();
    // SAFETY: called only by the `drop` of the owner, which does not use the value afterwards.
    unsafe { ManuallyDrop::drop(wrapped) };
}

/// A future with its span, metrics and the observer of its output.
#[must_use = "futures do nothing unless awaited"]
pub struct Wrapped<F, O = (), M: Metrics = ()> {
    /// Dropped by hand, so that dropping a future without span and metrics costs one test.
    carried: ManuallyDrop<Carried<M>>,
    /// Dropped by hand, inside the span.
    future: ManuallyDrop<F>,
    observe: O,
}

// Written out although the compiler would derive them: deriving them field by field, it reaches its recursion limit at half the
// depth of nested annotated functions.
// SAFETY: the future and the observer are `Send`, and `Carried` always is.
unsafe impl<F: Send, O: Send, M: Metrics> Send for Wrapped<F, O, M> {}
// SAFETY: the future and the observer are `Sync`, and `Carried` always is.
unsafe impl<F: Sync, O: Sync, M: Metrics> Sync for Wrapped<F, O, M> {}

/// Wraps a future in a span without fields, which is opened now if the callsite is on. `observe` receives the output.
#[inline(always)]
pub fn wrap<F: Future, O: Observe<F::Output>>(callsite: &'static Callsite, future: F, observe: O) -> Wrapped<F, O> {
    let carried = if callsite.is_on() { begin_plain(callsite) } else { Carried::none() };
    Wrapped::wrap(carried, future, observe)
}

#[inline(never)]
fn begin_plain(callsite: &'static Callsite) -> Carried {
    let opened = local::with(|local| {
        let block = open::open_movable_shortly(local, callsite)?;
        depart(local, block);
        Some(block)
    });
    if opened.is_some() { Carried { span: opened, metrics: () } } else { begin_slowly(callsite) }
}

#[inline(never)]
fn begin_slowly(callsite: &'static Callsite) -> Carried {
    Carried::begun(open::open_movable(callsite), ())
}

impl<F: Future, O: Observe<F::Output>, M: Metrics> Wrapped<F, O, M> {
    /// Wraps `future` with its span and metrics; `observe` receives the output.
    #[doc(hidden)]
    #[inline(always)]
    pub fn wrap(carried: Carried<M>, future: F, observe: O) -> Self {
        Wrapped { carried: ManuallyDrop::new(carried), future: ManuallyDrop::new(future), observe }
    }
}

impl<F: Future, H: Fn(&F::Output, &mut Seen<'_>), M: Metrics> Wrapped<F, Probe<H>, M> {
    /// Wraps `future` with its span and metrics; the closure `observe` receives the output, whose type has no name.
    #[doc(hidden)]
    #[inline(always)]
    pub fn probed(carried: Carried<M>, future: F, observe: H) -> Self {
        Self::wrap(carried, future, Probe(observe))
    }
}

impl<F: Future, O: Observe<F::Output>, M: Metrics> Future for Wrapped<F, O, M> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; the other fields are never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(span) = this.carried.span {
            crate::base::cold_path();
            return this.poll_in_span(span, task);
        }
        if !this.carried.metrics.is_none() {
            crate::base::cold_path();
            return this.poll_measured(task);
        }
        // SAFETY: `future` is a field of `self`, which is pinned.
        unsafe { Pin::new_unchecked(&mut *this.future) }.poll(task)
    }
}

impl<F: Future, O: Observe<F::Output>, M: Metrics> Wrapped<F, O, M> {
    /// Polls the future inside its span. The flags are tested here and not in `poll`, which also runs when nothing is recorded.
    /// Both branches are calls, so the test needs no stack space.
    #[inline(never)]
    fn poll_in_span(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        if span.has(BRIDGED | UNPOLLED | OBSERVED) {
            return self.poll_uncommon(span, task);
        }
        self.poll_started(span, task)
    }

    /// Handles the first poll, and each poll of a span that is observed or bridged to another API.
    #[cold]
    #[inline(never)]
    fn poll_uncommon(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        if span.has(BRIDGED | OBSERVED) {
            return self.poll_notifying(span, task);
        }
        start(span);
        self.poll_started(span, task)
    }

    /// Polls the future in a span that is observed or bridged to another API. Separate from `poll_uncommon`, which then saves no
    /// registers: most spans have only one poll.
    #[inline(never)]
    fn poll_notifying(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let flags = notify_entered(span);
        let polled = self.poll_started(span, task);
        notify_left(span, flags, polled.is_pending());
        polled
    }

    #[inline(never)]
    fn poll_started(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        self.carried.run_metrics();
        let polling = Polling::enter_started(span);
        // SAFETY: `future` is a field of `self`, which `poll` received pinned.
        let polled = unsafe { Pin::new_unchecked(&mut *self.future) }.poll(task);
        match &polled {
            Poll::Ready(output) => self.end(polling, output),
            Poll::Pending => {
                polling.leave();
                self.carried.metrics.if_dropped(Outcome::Cancelled);
            }
        }
        polled
    }

    /// Ends the span and the metrics. Separate from the poll, which then needs less stack space.
    #[inline(never)]
    fn end(&mut self, polling: Polling, output: &F::Output) {
        if polling.0.has(RECORDING) || !self.carried.metrics.is_none() {
            return self.end_observed(polling, output);
        }
        self.carried.span = None;
        end_unrecorded(polling);
    }

    #[inline(never)]
    fn end_observed(&mut self, polling: Polling, output: &F::Output) {
        let span = polling.0;
        if span.has(RECORDING) {
            let end = clock::now();
            span::ended(span, end, &mut self.carried.metrics, output, &self.observe);
            self.carried.span = None;
            end_recorded(polling, end);
        } else {
            span::end_metrics(&mut self.carried.metrics, None, None, output, &self.observe);
            self.carried.span = None;
            end_unrecorded(polling);
        }
    }

    #[inline(never)]
    fn poll_measured(&mut self, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        self.carried.run_metrics();
        // SAFETY: `future` is a field of `self`, which `poll` received pinned.
        let polled = unsafe { Pin::new_unchecked(&mut *self.future) }.poll(task);
        if let Poll::Ready(output) = &polled {
            span::end_metrics(&mut self.carried.metrics, None, None, output, &self.observe);
        }
        self.carried.metrics.if_dropped(Outcome::Cancelled);
        polled
    }
}

/// Notifies a bridged API that a span is entered, and starts the span's clock and the observation of its poll. Returns the
/// span's flags.
#[inline(never)]
fn notify_entered(span: BlockRef) -> u32 {
    let flags = span.flags.get();
    if flags & (BRIDGED | UNPOLLED) == 0 && polls::enter_watched(span, flags) {
        return flags;
    }
    notify_entered_slowly(span)
}

#[inline(never)]
fn notify_entered_slowly(span: BlockRef) -> u32 {
    if bridge::IS_BUILT && span.has(BRIDGED) {
        local::with(|local| context::note(local, span));
    }
    start_or_observe(span);
    span.flags.get()
}

/// Ends the observation of a poll, and notifies a bridged API that the span was left, if the span is still open. `flags` were
/// read before the poll, because the block of an ended span is already released.
#[inline(never)]
fn notify_left(span: BlockRef, flags: u32, is_open: bool) {
    if flags & (BRIDGED | OBSERVED) != WATCHED {
        return notify_left_slowly(span, flags, is_open);
    }
    polls::unwatch(span, is_open);
}

#[inline(never)]
fn notify_left_slowly(span: BlockRef, flags: u32, is_open: bool) {
    if bridge::IS_BUILT && is_open && flags & BRIDGED != 0 {
        bridge::left(span);
    }
    polls::leave(span, flags, is_open);
}

impl<F, O, M: Metrics> Drop for Wrapped<F, O, M> {
    #[inline]
    fn drop(&mut self) {
        if !self.carried.is_off() {
            return drop_inside(self.carried.take(), &mut self.future);
        }
        // SAFETY: dropped once, in place as pinning requires, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

/// A future that runs inside a span.
///
/// Its size is that of the future and a pointer.
///
/// ```
/// use tracecast::prelude::*;
///
/// let captured = tracecast::testing::capture(|| {
///     let read = async { 7 }.in_span(tc_scope!("Store/Read"));
///     futures::executor::block_on(read)
/// });
/// assert_eq!(captured.value, 7);
/// captured.assert_tree("Store/Read");
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Instrumented<F>(Wrapped<F>);

impl<F: Future> Instrumented<F> {
    fn carrying(carried: Carried, future: F) -> Self {
        Instrumented(Wrapped::wrap(carried, future, ()))
    }
}

impl<F: Future> Future for Instrumented<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: its only field is pinned with it and never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(task)
    }
}

impl<F: std::fmt::Debug> std::fmt::Debug for Instrumented<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instrumented").field("future", &*self.0.future).finish_non_exhaustive()
    }
}

/// Runs futures inside spans and contexts. Implemented for all futures.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::{Kind, Span};
///
/// #[tc_span("Store/Write")]
/// async fn write() {}
///
/// let captured = tracecast::testing::capture(|| {
///     let flush = async { write().await };
///     futures::executor::block_on(flush.in_span(Span::builder("Store/Flush", Kind::Internal).start()));
/// });
/// captured.assert_tree("
///     Store/Flush
///       Store/Write
/// ");
/// ```
pub trait FutureInSpan: Future + Sized {
    /// Runs the future inside `span`, which ends with the future: `work.in_span(tc_scope!("Store/Flush"))`.
    fn in_span(self, span: impl Into<Span>) -> Instrumented<Self> {
        Instrumented::carrying(Carried::of(span.into()), self)
    }

    /// Runs the future below the span that is current now, on whichever thread it is polled. Use it for `spawn`.
    ///
    /// ```
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Store/Read")]
    /// async fn read() {}
    ///
    /// let captured = tracecast::testing::capture(|| {
    ///     let task = {
    ///         let _scope = tc_scope!("Store/Load");
    ///         async { read().await }.in_current_span()
    ///     };
    ///     futures::executor::block_on(task);
    /// });
    /// captured.assert_tree("
    ///     Store/Load
    ///       Store/Read
    /// ");
    /// ```
    fn in_current_span(self) -> Instrumented<Self> {
        self.in_context(&Context::current())
    }

    /// Runs the future in `context`. An annotated `async fn` takes its parent when it is called, not when it is polled; for such
    /// a function write `context.run(|| f(x)).await`.
    fn in_context(self, context: &Context) -> Instrumented<Self> {
        Instrumented::carrying(Carried::context(context), self)
    }
}

impl<F: Future> FutureInSpan for F {}
