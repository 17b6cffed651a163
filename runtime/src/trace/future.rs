//! Futures inside spans: entered at each poll, finished with the result, cancelled when dropped before.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use crate::record::block::{BRIDGED, BlockRef, ENDED_BY_ERROR, FAILED, RECORDING, UNPOLLED, UNWOUND};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local;
use crate::trace::context::{self, Context};
use crate::trace::span::{self, End, Pending, Span};

/// The span of a future or stream: entered at each poll, owned by it alone, ended by `complete` or `abandon`.
pub(crate) struct Carried(BlockRef);

// SAFETY: the block goes where the future goes, and is on a thread's stack only while that thread polls or drops it.
unsafe impl Send for Carried {}
// SAFETY: a shared reference gives no access.
unsafe impl Sync for Carried {}

impl Carried {
    pub(crate) fn new(pending: Pending) -> Self {
        Carried(pending.into_block())
    }

    /// Runs one poll inside the span. Its clock starts with the first.
    #[inline(always)]
    pub(crate) fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        local::with(|local| context::note(local, self.0));
        self.ensure_started();
        let polled = self.poll_started(poll);
        bridge::left(self.0);
        polled
    }

    /// The same for a span whose clock runs, where another API needs to know nothing or was told.
    #[inline(always)]
    fn poll_started<R>(&self, poll: impl FnOnce() -> R) -> R {
        local::with(|local| local.push(self.0));
        let unwinding = Unwinding(self.0);
        let polled = poll();
        std::mem::forget(unwinding);
        local::with(|local| local.pop_to(self.0));
        polled
    }

    /// Starts the clock, if it does not run yet.
    #[inline(always)]
    fn ensure_started(&self) {
        if self.0.has(UNPOLLED) {
            start(self.0);
        }
    }

    /// A span that was made by hand: its clock runs already.
    pub(crate) fn of(span: Span) -> Option<Self> {
        span.into_block().map(Carried)
    }

    /// When it started, if it is recorded. Starts it if it has not.
    pub(crate) fn started(&self) -> Option<u64> {
        self.ensure_started();
        span::start_reading(Some(self.0))
    }

    /// Who got an error from a stream stops asking: if it has given one, then that is how it ends.
    pub(crate) fn ends_by_error(&self) {
        if self.0.has(FAILED) {
            self.0.raise(ENDED_BY_ERROR);
        }
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.0.has(RECORDING).then_some(End { block: self.0 })
    }

    /// A reading of the clock for the end, if it is recorded.
    pub(crate) fn end_reading(&self) -> Option<u64> {
        self.0.has(RECORDING).then(clock::now)
    }

    /// Ends the span of a future that came to its end.
    #[inline(never)]
    pub(crate) fn complete(self) {
        let end = self.end_reading();
        self.complete_at(end);
    }

    /// The same, at a reading of the clock.
    pub(crate) fn complete_at(self, end: Option<u64>) {
        self.finish(end, Outcome::Ok);
    }

    /// Ends the span of a future that was dropped before its end: by its owner, or because it panicked.
    pub(crate) fn abandon(self) {
        let outcome = match () {
            () if self.0.has(UNWOUND) => Outcome::Panicked,
            () if self.0.has(ENDED_BY_ERROR) => Outcome::Error,
            () => Outcome::Cancelled,
        };
        let end = self.end_reading();
        self.finish(end, outcome);
    }

    fn finish(self, end: Option<u64>, outcome: Outcome) {
        let block = self.0;
        local::with(|local| {
            local.arrive(block);
            // Never polled: no span.
            if block.has(UNPOLLED) {
                return local.release(block);
            }
            span::finish(local, block, end.unwrap_or(0), outcome);
        });
    }
}

/// Starts the clock of a span. By value, so that a poll keeps the block in a register.
#[inline(never)]
fn start(block: BlockRef) {
    block.lower(UNPOLLED);
    if block.has(RECORDING) {
        local::with(|local| span::start_clock(local, block, block.callsite.get()));
    }
}

/// The span of a future or stream that is being dropped: entered meanwhile, a clock that has not started stays so.
/// Ends with it, also if its destructor panics.
pub(crate) struct Abandoned(BlockRef);

impl Abandoned {
    // Neither this nor the end is inlined: a future that is off has nothing of it but the question.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter(span: Carried) -> Self {
        local::with(|local| {
            context::note(local, span.0);
            local.push(span.0);
        });
        Abandoned(span.0)
    }
}

impl Drop for Abandoned {
    #[inline]
    fn drop(&mut self) {
        leave_abandoned(self.0);
    }
}

#[cold]
#[inline(never)]
fn leave_abandoned(block: BlockRef) {
    local::with(|local| local.pop_to(block));
    bridge::left(block);
    Carried(block).abandon();
}

/// Dropped only by a panic: puts the stack right and remembers.
struct Unwinding(BlockRef);

impl Drop for Unwinding {
    #[inline(always)]
    fn drop(&mut self) {
        unwound(self.0);
    }
}

/// By value, as `start`.
#[cold]
#[inline(never)]
fn unwound(block: BlockRef) {
    block.raise(UNWOUND);
    local::with(|local| local.pop_to(block));
    bridge::left(block);
}

/// A future inside a span.
///
/// It is as large as the future and a pointer.
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
pub struct Instrumented<F, H> {
    span: Option<Carried>,
    /// Dropped by hand, inside the span.
    future: ManuallyDrop<F>,
    observe: H,
}

// Written out, though they are what the compiler would find: found step by step through the fields, they make chains of
// annotated functions reach its recursion limit at half the depth.
// SAFETY: its parts are.
unsafe impl<F: Send, H: Send> Send for Instrumented<F, H> {}
// SAFETY: its parts are.
unsafe impl<F: Sync, H: Sync> Sync for Instrumented<F, H> {}

impl<F, H> Instrumented<F, H>
where
    F: Future,
    H: Fn(&F::Output, &mut End),
{
    /// Runs `future` in `span`; `observe` sees its output, if the span is recorded.
    #[inline(always)]
    pub fn new(span: Option<Pending>, future: F, observe: H) -> Self {
        Instrumented { span: span.map(Carried::new), future: ManuallyDrop::new(future), observe }
    }
}

impl<F, H> Future for Instrumented<F, H>
where
    F: Future,
    H: Fn(&F::Output, &mut End),
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; `span` and `observe` are
        // never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(Carried(span)) = this.span {
            std::hint::cold_path();
            return this.poll_in_span(span, task);
        }
        // SAFETY: it lies in `self`, which is pinned.
        unsafe { Pin::new_unchecked(&mut *this.future) }.poll(task)
    }
}

impl<F, H> Instrumented<F, H>
where
    F: Future,
    H: Fn(&F::Output, &mut End),
{
    /// Asked here and not by the caller, which is what runs when all is off; and both ways are calls, so that asking needs
    /// no room on the stack.
    #[inline(never)]
    fn poll_in_span(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        if span.has(BRIDGED | UNPOLLED) {
            return self.poll_first_or_bridged(span, task);
        }
        self.poll_started(span, task)
    }

    #[cold]
    #[inline(never)]
    fn poll_first_or_bridged(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let bridged = cfg!(feature = "otel") && span.has(BRIDGED);
        if bridged {
            local::with(|local| context::note(local, span));
        }
        Carried(span).ensure_started();
        let polled = self.poll_started(span, task);
        // One that is done has left it with its end.
        if bridged && polled.is_pending() {
            bridge::left(span);
        }
        polled
    }

    #[inline(never)]
    fn poll_started(&mut self, span: BlockRef, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        let span = Carried(span);
        let polled = span.poll_started(|| {
            // SAFETY: it lies in `self`, which `poll` found pinned.
            let polled = unsafe { Pin::new_unchecked(&mut *self.future) }.poll(task);
            if let Poll::Ready(output) = &polled
                && let Some(mut end) = span.end()
            {
                (self.observe)(output, &mut end);
            }
            polled
        });
        if polled.is_ready() {
            self.span = None;
            span.complete();
        }
        polled
    }
}

impl<F, H> Drop for Instrumented<F, H> {
    #[inline]
    fn drop(&mut self) {
        if let Some(Carried(span)) = self.span {
            return drop_in_span(span, &mut self.future);
        }
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.future) };
    }
}

/// Drops a future that has not come to its end, inside its span. Only for the drop of what holds it.
#[cold]
#[inline(never)]
fn drop_in_span<F>(span: BlockRef, future: &mut ManuallyDrop<F>) {
    let _abandoned = Abandoned::enter(Carried(span));
    // SAFETY: as in `drop`, which does nothing else after this.
    unsafe { ManuallyDrop::drop(future) };
}

impl<F: std::fmt::Debug, H> std::fmt::Debug for Instrumented<F, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instrumented").field("future", &*self.future).finish_non_exhaustive()
    }
}

/// The type of `unobserved` and of handlers written by hand.
pub(crate) type Observe<T> = fn(&T, &mut End);

/// What observes nothing.
#[inline(always)]
pub fn unobserved<T: ?Sized>(_: &T, _: &mut End) {}

/// Puts futures into spans and contexts.
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
pub trait FutureExt: Future + Sized {
    /// Runs the future inside `span`, which ends with it: `work.in_span(tc_scope!("Store/Flush"))`.
    fn in_span(self, span: impl Into<Span>) -> Instrumented<Self, Observe<Self::Output>> {
        Instrumented { span: Carried::of(span.into()), future: ManuallyDrop::new(self), observe: unobserved }
    }

    /// Runs the future below the span that is current now, wherever it is polled: for `spawn`.
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
    fn in_current_span(self) -> Instrumented<Self, Observe<Self::Output>> {
        self.in_context(&Context::current())
    }

    /// Runs the future in `context`. An annotated `async fn` took its parent when it was called, and keeps that:
    /// for one, `context.run(|| f(x)).await`.
    fn in_context(self, context: &Context) -> Instrumented<Self, Observe<Self::Output>> {
        Instrumented::new(Pending::context(context), self, unobserved)
    }
}

impl<F: Future> FutureExt for F {}
