//! Futures inside spans: entered at each poll, finished with the result, cancelled when dropped before.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use crate::block::{BlockRef, RECORDING, STARTED};
use crate::clock;
use crate::context::Context;
use crate::finished::Outcome;
use crate::local;
use crate::span::{self, End, OnStack, Pending, Span};

/// The span of a future or stream: entered at each poll, owned by it alone.
pub(crate) struct Carried(BlockRef);

// SAFETY: the block goes where the future goes, and is on a thread's stack only while that thread polls or drops it.
unsafe impl Send for Carried {}
// SAFETY: a shared reference gives no access.
unsafe impl Sync for Carried {}

impl Carried {
    pub(crate) fn new(pending: Pending) -> Self {
        Carried(pending.into_block())
    }

    /// Enters the span for one poll. Its clock starts with the first.
    #[inline(always)]
    pub(crate) fn enter(&self) -> OnStack {
        if !self.0.has(STARTED) {
            local::with(|local| span::start_clock(local, self.0));
        }
        OnStack::enter(self.0)
    }

    /// Enters the span while its future or stream is dropped: a clock that has not started stays so.
    pub(crate) fn reenter(&self) -> OnStack {
        OnStack::enter(self.0)
    }

    /// A span that was made by hand.
    pub(crate) fn of(span: Span) -> Option<Self> {
        ManuallyDrop::new(span).block.map(Carried)
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.0.has(RECORDING).then_some(End { block: self.0 })
    }

    pub(crate) fn finish(self, outcome: Outcome) {
        let block = ManuallyDrop::new(self).0;
        local::with(|local| {
            // Never polled, or unsampled: no span.
            if !block.has(STARTED) {
                return local.release(block);
            }
            span::finish(local, block, clock::now(), outcome);
        });
    }
}

/// A panic while it was being polled or dropped.
impl Drop for Carried {
    fn drop(&mut self) {
        Carried(self.0).finish(Outcome::Panicked);
    }
}

/// A future inside a span.
///
/// It is as large as the future and a pointer.
#[must_use = "futures do nothing unless awaited"]
pub struct Instrumented<F, H> {
    span: Option<Carried>,
    /// Dropped by hand, inside the span.
    future: ManuallyDrop<F>,
    observe: H,
}

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
        // SAFETY: it lies in `self`, which is pinned.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        let Some(span) = this.span.take() else { return future.poll(task) };
        // If the poll panics, the span is dropped with `Panicked`, after the stack is put right.
        let polled = {
            let _entered = span.enter();
            let polled = future.poll(task);
            if let (Poll::Ready(output), Some(mut end)) = (&polled, span.end()) {
                (this.observe)(output, &mut end);
            }
            polled
        };
        if polled.is_ready() {
            span.finish(Outcome::Ok);
        } else {
            this.span = Some(span);
        }
        polled
    }
}

impl<F, H> Drop for Instrumented<F, H> {
    #[inline]
    fn drop(&mut self) {
        let entered = self.span.as_ref().map(Carried::reenter);
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.future) };
        drop(entered);
        if let Some(span) = self.span.take() {
            span.finish(Outcome::Cancelled);
        }
    }
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
pub trait FutureExt: Future + Sized {
    /// Runs the future inside `span`, which ends with it: `work.in_span(tc_scope!("Store/Flush"))`.
    fn in_span(self, span: impl Into<Span>) -> Instrumented<Self, Observe<Self::Output>> {
        Instrumented { span: Carried::of(span.into()), future: ManuallyDrop::new(self), observe: unobserved }
    }

    /// Runs the future below the span that is current now, wherever it is polled: for `spawn`.
    fn in_current_span(self) -> Instrumented<Self, Observe<Self::Output>> {
        self.in_context(&Context::current())
    }

    /// Runs the future in `context`.
    fn in_context(self, context: &Context) -> Instrumented<Self, Observe<Self::Output>> {
        Instrumented::new(Pending::context(context), self, unobserved)
    }
}

impl<F: Future> FutureExt for F {}
