//! Streams that are measured, inside of their spans: also how long to the first item, and from one to the next.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;

use super::future::{Begun, Running, end_inside};
use super::{Measure, Verdict};
use crate::record::clock;
use crate::trace::future::Carried;
use crate::trace::span::End;

/// A stream that is measured, inside of its span.
#[must_use = "streams do nothing unless polled"]
pub struct MeasuredStream<S, H, J> {
    running: Running,
    verdict: Verdict,
    /// The reading of the clock at the last item.
    last_item: Option<u64>,
    /// Dropped by hand, inside the span.
    stream: ManuallyDrop<S>,
    observe: H,
    judge: J,
}

// Written out for the same reason as for `Instrumented`.
// SAFETY: its parts are.
unsafe impl<S: Send, H: Send, J: Send> Send for MeasuredStream<S, H, J> {}
// SAFETY: its parts are.
unsafe impl<S: Sync, H: Sync, J: Sync> Sync for MeasuredStream<S, H, J> {}

impl<S, H, J> MeasuredStream<S, H, J>
where
    S: Stream,
    H: Fn(&S::Item, &mut End),
    J: Fn(&S::Item, &mut Verdict),
{
    /// Runs `stream`; `observe` sees each item if the span is recorded, `judge` if it is measured.
    pub fn new(begun: Option<Begun>, stream: S, observe: H, judge: J) -> Self {
        Self::running(Running::new(begun), stream, observe, judge)
    }

    fn running(running: Running, stream: S, observe: H, judge: J) -> Self {
        let stream = ManuallyDrop::new(stream);
        MeasuredStream { running, verdict: Verdict::default(), last_item: None, stream, observe, judge }
    }
}

impl<S, H, J> Stream for MeasuredStream<S, H, J>
where
    S: Stream,
    H: Fn(&S::Item, &mut End),
    J: Fn(&S::Item, &mut Verdict),
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<S::Item>> {
        // SAFETY: nothing is moved out of the pinned `stream`, neither here nor in `drop`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in `self`, which is pinned.
        let stream = unsafe { Pin::new_unchecked(&mut *this.stream) };
        if this.running.is_off() {
            return stream.poll_next(task);
        }
        let (mut reading, last_item, verdict) = (None, &mut this.last_item, &mut this.verdict);
        let polled = this.running.poll(|span, measure| {
            let polled = stream.poll_next(task);
            match &polled {
                Poll::Ready(Some(item)) => {
                    if let Some(measure) = measure {
                        measure.item(last_item);
                        (this.judge)(item, verdict);
                    }
                    if let Some(mut end) = span.and_then(Carried::end) {
                        (this.observe)(item, &mut end);
                    }
                }
                Poll::Ready(None) => reading = end_inside(span, measure, verdict),
                Poll::Pending => {}
            }
            polled
        });
        if matches!(polled, Poll::Ready(None)) {
            this.running.complete(reading);
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl Measure {
    /// An item came; the last one came at `last`.
    fn item(&self, last: &mut Option<u64>) {
        if let Some(items) = self.meter.items {
            self.count(items, self.entry);
        }
        if !self.meter.times_items() {
            return;
        }
        let now = clock::now();
        match (last.replace(now), self.meter.first_item, self.meter.per_item) {
            (None, Some(first), _) => self.record(first, self.entry, self.started, now),
            (Some(last), _, Some(per_item)) => self.record(per_item, self.entry, last, now),
            _ => {}
        }
    }
}

impl<S, H, J> Drop for MeasuredStream<S, H, J> {
    fn drop(&mut self) {
        // Who got an error stops asking: that is how a stream ends that fails.
        if self.verdict.failed
            && let Some(measure) = &mut self.running.measure
        {
            measure.fail(std::mem::take(&mut self.verdict));
        }
        if let Some(span) = &self.running.span {
            span.ends_by_error();
        }
        let stream = &mut self.stream;
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        self.running.abandon(|| unsafe { ManuallyDrop::drop(stream) });
    }
}

/// An `async fn` that makes a stream: one measure for the making and the stream.
pub struct MeasuredStreamFuture<F, H, J> {
    running: Running,
    future: ManuallyDrop<F>,
    observe: H,
    judge: J,
}

// SAFETY: its parts are.
unsafe impl<F: Send, H: Send, J: Send> Send for MeasuredStreamFuture<F, H, J> {}
// SAFETY: its parts are.
unsafe impl<F: Sync, H: Sync, J: Sync> Sync for MeasuredStreamFuture<F, H, J> {}

impl<F, H, J> MeasuredStreamFuture<F, H, J>
where
    F: Future,
    F::Output: Stream,
    H: Fn(&<F::Output as Stream>::Item, &mut End) + Copy,
    J: Fn(&<F::Output as Stream>::Item, &mut Verdict) + Copy,
{
    /// Runs `future`, and then the stream that it gives.
    pub fn new(begun: Option<Begun>, future: F, observe: H, judge: J) -> Self {
        MeasuredStreamFuture { running: Running::new(begun), future: ManuallyDrop::new(future), observe, judge }
    }
}

impl<F, H, J> Future for MeasuredStreamFuture<F, H, J>
where
    F: Future,
    F::Output: Stream,
    H: Fn(&<F::Output as Stream>::Item, &mut End) + Copy,
    J: Fn(&<F::Output as Stream>::Item, &mut Verdict) + Copy,
{
    type Output = MeasuredStream<F::Output, H, J>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in `self`, which is pinned.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        let polled = match this.running.is_off() {
            true => future.poll(task),
            false => this.running.poll(|_, _| future.poll(task)),
        };
        polled.map(|stream| {
            let running = std::mem::replace(&mut this.running, Running::new(None));
            MeasuredStream::running(running, stream, this.observe, this.judge)
        })
    }
}

impl<F, H, J> Drop for MeasuredStreamFuture<F, H, J> {
    fn drop(&mut self) {
        let future = &mut self.future;
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        self.running.abandon(|| unsafe { ManuallyDrop::drop(future) });
    }
}
