//! Streams inside spans: the span covers the stream to its end or drop.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;

use crate::trace::context::Context;
use crate::trace::future::{Abandoned, Carried, Instrumented, Observe, unobserved};
use crate::trace::span::{End, Pending, Span};

/// A stream inside a span.
///
/// ```
/// use tracecast::prelude::*;
///
/// let captured = tracecast::testing::capture(|| {
///     let chunks = futures::stream::iter([1, 2]).in_span(tc_scope!("Store/Chunks"));
///     futures::executor::block_on(futures::StreamExt::count(chunks))
/// });
/// assert_eq!(captured.value, 2);
/// captured.assert_tree("Store/Chunks");
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct InstrumentedStream<S, H> {
    span: Option<Carried>,
    /// Dropped by hand, inside the span.
    stream: ManuallyDrop<S>,
    observe: H,
}

// Written out for the same reason as for `Instrumented`.
// SAFETY: its parts are.
unsafe impl<S: Send, H: Send> Send for InstrumentedStream<S, H> {}
// SAFETY: its parts are.
unsafe impl<S: Sync, H: Sync> Sync for InstrumentedStream<S, H> {}

impl<S, H> InstrumentedStream<S, H>
where
    S: Stream,
    H: Fn(&S::Item, &mut End),
{
    /// Runs `stream` in `span`; `observe` sees each item, if the span is recorded.
    pub fn new(span: Option<Pending>, stream: S, observe: H) -> Self {
        Self::carrying(span.map(Carried::new), stream, observe)
    }

    fn carrying(span: Option<Carried>, stream: S, observe: H) -> Self {
        InstrumentedStream { span, stream: ManuallyDrop::new(stream), observe }
    }
}

impl<S, H> Stream for InstrumentedStream<S, H>
where
    S: Stream,
    H: Fn(&S::Item, &mut End),
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<S::Item>> {
        // SAFETY: nothing is moved out of the pinned `stream`, neither here nor in `drop`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in `self`, which is pinned.
        let stream = unsafe { Pin::new_unchecked(&mut *this.stream) };
        let Some(span) = &this.span else { return stream.poll_next(task) };
        let polled = span.poll(|| {
            let polled = stream.poll_next(task);
            if let (Poll::Ready(Some(item)), Some(mut end)) = (&polled, span.end()) {
                (this.observe)(item, &mut end);
            }
            polled
        });
        if matches!(polled, Poll::Ready(None)) {
            this.span.take().into_iter().for_each(Carried::complete);
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<S, H> Drop for InstrumentedStream<S, H> {
    fn drop(&mut self) {
        if let Some(span) = &self.span {
            span.ends_by_error();
        }
        let abandoned = self.span.take().map(Abandoned::enter);
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.stream) };
        drop(abandoned);
    }
}

/// An `async fn` that makes a stream: one span for the making and the stream.
pub struct InstrumentedStreamFuture<F, H> {
    span: Option<Carried>,
    future: ManuallyDrop<F>,
    observe: H,
}

// SAFETY: its parts are.
unsafe impl<F: Send, H: Send> Send for InstrumentedStreamFuture<F, H> {}
// SAFETY: its parts are.
unsafe impl<F: Sync, H: Sync> Sync for InstrumentedStreamFuture<F, H> {}

impl<F, H> InstrumentedStreamFuture<F, H>
where
    F: Future,
    F::Output: Stream,
    H: Fn(&<F::Output as Stream>::Item, &mut End) + Copy,
{
    /// Runs `future` in `span`, and then the stream that it gives.
    pub fn new(span: Option<Pending>, future: F, observe: H) -> Self {
        InstrumentedStreamFuture { span: span.map(Carried::new), future: ManuallyDrop::new(future), observe }
    }
}

impl<F, H> Future for InstrumentedStreamFuture<F, H>
where
    F: Future,
    F::Output: Stream,
    H: Fn(&<F::Output as Stream>::Item, &mut End) + Copy,
{
    type Output = InstrumentedStream<F::Output, H>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in `self`, which is pinned.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        let polled = match &this.span {
            Some(span) => span.poll(|| future.poll(task)),
            None => future.poll(task),
        };
        polled.map(|stream| InstrumentedStream::carrying(this.span.take(), stream, this.observe))
    }
}

impl<F, H> Drop for InstrumentedStreamFuture<F, H> {
    fn drop(&mut self) {
        let abandoned = self.span.take().map(Abandoned::enter);
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.future) };
        drop(abandoned);
    }
}

/// Puts streams into spans and contexts.
///
/// ```
/// use futures::{executor, stream};
/// use tracecast::StreamExt as _;
/// use tracecast::{Kind, Span};
///
/// let captured = tracecast::testing::capture(|| {
///     let chunks = stream::iter([1, 2]).in_span(Span::builder("Store/Stream", Kind::Internal).start());
///     executor::block_on(futures::StreamExt::collect::<Vec<_>>(chunks))
/// });
/// assert_eq!(captured.value, [1, 2]);
/// captured.assert_tree("Store/Stream");
/// ```
pub trait StreamExt: Stream + Sized {
    /// Runs the stream inside `span`, which ends with it.
    fn in_span(self, span: impl Into<Span>) -> InstrumentedStream<Self, Observe<Self::Item>> {
        InstrumentedStream::carrying(Carried::of(span.into()), self, unobserved)
    }

    /// Runs the stream below the span that is current now, wherever it is polled.
    fn in_current_span(self) -> InstrumentedStream<Self, Observe<Self::Item>> {
        InstrumentedStream::new(Pending::context(&Context::current()), self, unobserved)
    }
}

impl<S: Stream> StreamExt for S {}

/// Types that can take a span in and stay the same type: boxed futures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a span: the function has to return `impl Future` or a boxed future",
    note = "return `impl Future<Output = ..>` or `Pin<Box<dyn Future<Output = ..> + Send>>`, or add `construct` to time only the making of the future; if it returns none, remove `future`"
)]
pub trait Rewrap: Future + Sized {
    /// The same future, inside `span`.
    fn rewrap<H: Fn(&Self::Output, &mut End) + Send + Sync + 'static>(self, span: Pending, observe: H) -> Self;
}

/// Types that can take a span in and stay the same type: boxed streams.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry a span: the function has to return `impl Stream` or a boxed stream",
    note = "return `impl Stream<Item = ..>` or `Pin<Box<dyn Stream<Item = ..> + Send>>`, or add `construct` to time only the making of the stream; if it returns none, remove `stream`"
)]
pub trait RewrapStream: Stream + Sized {
    /// The same stream, inside `span`.
    fn rewrap<H: Fn(&Self::Item, &mut End) + Send + Sync + 'static>(self, span: Pending, observe: H) -> Self;
}

macro_rules! rewrap {
    ($($($auto:ident)*),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> Rewrap for Pin<Box<dyn Future<Output = T> $(+ $auto)* + 'a>> {
            fn rewrap<H: Fn(&T, &mut End) + Send + Sync + 'static>(self, span: Pending, observe: H) -> Self {
                Box::pin(Instrumented::new(Some(span), self, observe))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a, T: 'a> RewrapStream for Pin<Box<dyn Stream<Item = T> $(+ $auto)* + 'a>> {
            fn rewrap<H: Fn(&T, &mut End) + Send + Sync + 'static>(self, span: Pending, observe: H) -> Self {
                Box::pin(InstrumentedStream::new(Some(span), self, observe))
            }
        }
    )+};
}

rewrap!(, Send, Send Sync);

/// Puts a boxed future into its span; without one it stays as it is.
pub fn rewrap<F: Rewrap, H>(span: Option<Pending>, future: F, observe: H) -> F
where
    H: Fn(&F::Output, &mut End) + Send + Sync + 'static,
{
    match span {
        Some(span) => future.rewrap(span, observe),
        None => future,
    }
}

/// Puts a boxed stream into its span; without one it stays as it is.
pub fn rewrap_stream<S: RewrapStream, H>(span: Option<Pending>, stream: S, observe: H) -> S
where
    H: Fn(&S::Item, &mut End) + Send + Sync + 'static,
{
    match span {
        Some(span) => stream.rewrap(span, observe),
        None => stream,
    }
}
