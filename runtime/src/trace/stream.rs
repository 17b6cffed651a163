//! Streams inside spans: the span lasts until the stream ends or is dropped.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;

use crate::record::block::{BlockRef, ENDED_BY_ERROR, FAILED, RECORDING};
use crate::record::clock;
use crate::trace::context::Context;
use crate::trace::future::{Carried, Wrapped, drop_inside};
use crate::trace::metrics::Metrics;
use crate::trace::observe::{Observe, Probe, Seen, Verdict};
use crate::trace::span::{End, Span};

/// A stream with its span, metrics and the observer of its items.
#[must_use = "streams do nothing unless polled"]
pub struct WrappedStream<S, O = (), M: Metrics = ()> {
    carried: ManuallyDrop<Carried<M>>,
    /// The clock reading of the last item, if items are timed.
    last_item: Option<u64>,
    /// Dropped by hand, inside the span.
    stream: ManuallyDrop<S>,
    observe: O,
}

// Written out and not derived, for the reason given at `Wrapped`.
// SAFETY: the stream and the observer are `Send`, and `Carried` always is.
unsafe impl<S: Send, O: Send, M: Metrics> Send for WrappedStream<S, O, M> {}
// SAFETY: the stream and the observer are `Sync`, and `Carried` always is.
unsafe impl<S: Sync, O: Sync, M: Metrics> Sync for WrappedStream<S, O, M> {}

impl<S: Stream, O: Observe<S::Item>, M: Metrics> WrappedStream<S, O, M> {
    fn wrap(carried: Carried<M>, stream: S, observe: O) -> Self {
        let (carried, stream) = (ManuallyDrop::new(carried), ManuallyDrop::new(stream));
        WrappedStream { carried, last_item: None, stream, observe }
    }
}

impl<S: Stream, H: Fn(&S::Item, &mut Seen<'_>), M: Metrics> WrappedStream<S, Probe<H>, M> {
    /// Wraps `stream` with its span and metrics; `observe` receives each item.
    #[doc(hidden)]
    pub fn probed(carried: Carried<M>, stream: S, observe: H) -> Self {
        Self::wrap(carried, stream, Probe(observe))
    }
}

impl<S: Stream, O: Observe<S::Item>, M: Metrics> Stream for WrappedStream<S, O, M> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<S::Item>> {
        // SAFETY: nothing is moved out of the pinned `stream`, neither here nor in `drop`; the other fields are never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `stream` is a field of `self`, which is pinned.
        let stream = unsafe { Pin::new_unchecked(&mut *this.stream) };
        if this.carried.is_off() {
            return stream.poll_next(task);
        }
        let polling = this.carried.enter();
        let polled = stream.poll_next(task);
        let mut end = 0;
        match &polled {
            Poll::Ready(Some(item)) => this.carried.item(&mut this.last_item, item, &this.observe),
            Poll::Ready(None) => end = this.carried.end_items(),
            Poll::Pending => {}
        }
        this.carried.leave(polling);
        if matches!(polled, Poll::Ready(None)) {
            this.carried.complete(end);
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<M: Metrics> Carried<M> {
    /// Reports an item to the span and the metrics.
    fn item<T>(&mut self, last_item: &mut Option<u64>, item: &T, observe: &impl Observe<T>) {
        let end = self.recorded().map(|block| End { block });
        if self.metrics.is_none() {
            return observe.observe(item, &mut Seen { end, verdict: None });
        }
        self.metrics.item(last_item);
        let mut verdict = Verdict::default();
        observe.observe(item, &mut Seen { end, verdict: Some(&mut verdict) });
        self.metrics.judge_item(&verdict);
    }

    /// Ends the metrics of a stream while its span is current. Returns the clock reading at which the span ends; 0 if the span
    /// is not recorded.
    fn end_items(&mut self) -> u64 {
        let reading = self.recorded().map(|_| clock::now());
        let end = self.metrics.end_reading(reading);
        self.metrics.end_items(end);
        reading.unwrap_or(0)
    }

    fn recorded(&self) -> Option<BlockRef> {
        self.span.filter(|block| block.has(RECORDING))
    }
}

impl<S, O, M: Metrics> Drop for WrappedStream<S, O, M> {
    fn drop(&mut self) {
        // A consumer stops polling after an error: a dropped stream that has returned an error ends with that error.
        if let Some(span) = self.carried.span
            && span.has(FAILED)
        {
            span.raise(ENDED_BY_ERROR);
        }
        drop_inside(self.carried.take(), &mut self.stream);
    }
}

/// The future of an `async fn` that returns a stream. One span covers the future and the stream.
pub struct InstrumentedStreamFuture<F, O, M: Metrics = ()> {
    carried: ManuallyDrop<Carried<M>>,
    future: ManuallyDrop<F>,
    observe: O,
}

// SAFETY: the future and the observer are `Send`, and `Carried` always is.
unsafe impl<F: Send, O: Send, M: Metrics> Send for InstrumentedStreamFuture<F, O, M> {}
// SAFETY: the future and the observer are `Sync`, and `Carried` always is.
unsafe impl<F: Sync, O: Sync, M: Metrics> Sync for InstrumentedStreamFuture<F, O, M> {}

impl<F, H, M: Metrics> InstrumentedStreamFuture<F, Probe<H>, M>
where
    F: Future<Output: Stream>,
    H: Fn(&<F::Output as Stream>::Item, &mut Seen<'_>) + Copy,
{
    /// Wraps `future`, and then the stream that it returns, with the span and metrics; `observe` receives each item.
    #[doc(hidden)]
    pub fn probed(carried: Carried<M>, future: F, observe: H) -> Self {
        let (carried, future) = (ManuallyDrop::new(carried), ManuallyDrop::new(future));
        InstrumentedStreamFuture { carried, future, observe: Probe(observe) }
    }
}

impl<F, O, M: Metrics> Future for InstrumentedStreamFuture<F, O, M>
where
    F: Future<Output: Stream>,
    O: Observe<<F::Output as Stream>::Item> + Copy,
{
    type Output = WrappedStream<F::Output, O, M>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; the other fields are never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `future` is a field of `self`, which is pinned.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        let polled = if this.carried.is_off() {
            future.poll(task)
        } else {
            let polling = this.carried.enter();
            let polled = future.poll(task);
            this.carried.leave(polling);
            polled
        };
        polled.map(|stream| WrappedStream::wrap(this.carried.take(), stream, this.observe))
    }
}

impl<F, O, M: Metrics> Drop for InstrumentedStreamFuture<F, O, M> {
    fn drop(&mut self) {
        drop_inside(self.carried.take(), &mut self.future);
    }
}

/// A stream that runs inside a span.
///
/// ```
/// use tracecast::prelude::*;
///
/// let captured = tracecast::testing::capture(|| {
///     let chunks = futures::stream::iter([1, 2]).stream_in_span(tc_scope!("Store/Chunks"));
///     futures::executor::block_on(futures::StreamExt::count(chunks))
/// });
/// assert_eq!(captured.value, 2);
/// captured.assert_tree("Store/Chunks");
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct InstrumentedStream<S>(WrappedStream<S>);

impl<S: Stream> Stream for InstrumentedStream<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<S::Item>> {
        // SAFETY: its only field is pinned with it and never moved out.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll_next(task)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// Runs streams inside spans and contexts. Implemented for all streams.
///
/// ```
/// use futures::{executor, stream};
/// use tracecast::StreamInSpan as _;
/// use tracecast::{Kind, Span};
///
/// let captured = tracecast::testing::capture(|| {
///     let chunks = stream::iter([1, 2]).stream_in_span(Span::builder("Store/Stream", Kind::Internal).start());
///     executor::block_on(futures::StreamExt::collect::<Vec<_>>(chunks))
/// });
/// assert_eq!(captured.value, [1, 2]);
/// captured.assert_tree("Store/Stream");
/// ```
pub trait StreamInSpan: Stream + Sized {
    /// Runs the stream inside `span`, which ends with the stream.
    fn stream_in_span(self, span: impl Into<Span>) -> InstrumentedStream<Self> {
        InstrumentedStream(WrappedStream::wrap(Carried::of(span.into()), self, ()))
    }

    /// Runs the stream below the span that is current now, on whichever thread it is polled.
    fn stream_in_current_span(self) -> InstrumentedStream<Self> {
        InstrumentedStream(WrappedStream::wrap(Carried::context(&Context::current()), self, ()))
    }
}

impl<S: Stream> StreamInSpan for S {}

/// Futures that keep their type when wrapped: boxed futures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a span or metrics: the function has to return `impl Future` or a boxed future",
    note = "return `impl Future<Output = ..>` or `Pin<Box<dyn Future<Output = ..> + Send>>`, or add `construct` to time only the construction of the future; if the function returns no future, remove `future`"
)]
pub trait Rewrap: Future + Sized {
    /// Returns the future wrapped with its span and metrics.
    fn rewrap<O, M: Metrics>(self, carried: Carried<M>, observe: O) -> Self
    where
        O: Observe<Self::Output> + Send + Sync + 'static;
}

/// Streams that keep their type when wrapped: boxed streams.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a span or metrics: the function has to return `impl Stream` or a boxed stream",
    note = "return `impl Stream<Item = ..>` or `Pin<Box<dyn Stream<Item = ..> + Send>>`, or add `construct` to time only the construction of the stream; if the function returns no stream, remove `stream`"
)]
pub trait RewrapStream: Stream + Sized {
    /// Returns the stream wrapped with its span and metrics.
    fn rewrap<O, M: Metrics>(self, carried: Carried<M>, observe: O) -> Self
    where
        O: Observe<Self::Item> + Send + Sync + 'static;
}

macro_rules! rewrap {
    ($($($auto:ident)*),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> Rewrap for Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>> {
            fn rewrap<O, M: Metrics>(self, carried: Carried<M>, observe: O) -> Self
            where
                O: Observe<T> + Send + Sync + 'static,
            {
                Box::pin(Wrapped::wrap(carried, self, observe))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> RewrapStream for Pin<Box<dyn Stream<Item = T> $(+ $auto)* + 'a>> {
            fn rewrap<O, M: Metrics>(self, carried: Carried<M>, observe: O) -> Self
            where
                O: Observe<T> + Send + Sync + 'static,
            {
                Box::pin(WrappedStream::wrap(carried, self, observe))
            }
        }
    )+};
}

rewrap!(, Send, Send Sync);

/// Wraps a boxed future with its span and metrics; if there are none, returns it unchanged.
pub fn rewrap<F: Rewrap, M: Metrics, H>(carried: Carried<M>, future: F, observe: H) -> F
where
    H: Fn(&F::Output, &mut Seen<'_>) + Send + Sync + 'static,
{
    if carried.is_off() { future } else { future.rewrap(carried, Probe(observe)) }
}

/// Wraps a boxed stream with its span and metrics; if there are none, returns it unchanged.
pub fn rewrap_stream<S: RewrapStream, M: Metrics, H>(carried: Carried<M>, stream: S, observe: H) -> S
where
    H: Fn(&S::Item, &mut Seen<'_>) + Send + Sync + 'static,
{
    if carried.is_off() { stream } else { stream.rewrap(carried, Probe(observe)) }
}
