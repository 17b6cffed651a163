//! Spans for single messages, made where messages are handled: below HTTP there are only frames, of which one may hold many
//! messages, or a part of one.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll};
use std::time::SystemTime;

use futures_core::Stream;
use pin_project_lite::pin_project;
use tracecast::{Context, FutureInSpan as _, Kind, Span};

use crate::grpc::keys;

/// Messages of one stream that have spans unless another number is given.
const CAP: u64 = 100;

/// Gives the messages of a stream spans of their own, up to a number: those after it are only counted, as
/// `tc.rpc.messages_without_span` on the span that is current when the stream ends, if there is one: around a stream that a client
/// sends there is none. Without this a call has one span, with
/// the number of its messages.
///
/// ```
/// use tonic::{Request, Response, Status, Streaming};
/// use tracecast_tower::MessageSpans;
///
/// async fn upload(request: Request<Streaming<Vec<u8>>>) -> Result<Response<u64>, Status> {
///     let mut size = 0;
///     let spans = MessageSpans::new("Upload/Part").with_cap(20);
///     spans.for_each(request.into_inner(), |part| {
///         size += part.len() as u64;
///         async { Ok::<_, Status>(()) } // The span of the message is current in here.
///     }).await?;
///     Ok(Response::new(size))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct MessageSpans {
    name: Box<str>,
    cap: u64,
}

impl MessageSpans {
    /// Spans of this name, for the first 100 messages.
    ///
    /// ```
    /// use tracecast_tower::MessageSpans;
    ///
    /// let spans = MessageSpans::new("Upload/Part");
    /// ```
    pub fn new(name: &str) -> Self {
        MessageSpans { name: name.into(), cap: CAP }
    }

    /// Spans for so many messages of a stream.
    ///
    /// ```
    /// use tracecast_tower::MessageSpans;
    ///
    /// let spans = MessageSpans::new("Upload/Part").with_cap(20);
    /// ```
    #[must_use]
    pub fn with_cap(mut self, messages: u64) -> Self {
        self.cap = messages;
        self
    }

    /// Hands each message to `handle`, in a span that lasts for as long as that takes and is current meanwhile. An error, of
    /// the stream or of `handle`, ends it.
    ///
    /// ```
    /// # use tonic::Status;
    /// # use tracecast_tower::MessageSpans;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let parts = tokio_stream::iter([Ok(2), Ok(3), Err(Status::data_loss("torn"))]);
    /// let mut size = 0;
    /// let spans = MessageSpans::new("Upload/Part");
    /// let handled = spans.for_each(parts, |part| std::future::ready(Ok(size += part))).await;
    /// assert_eq!(handled.unwrap_err().message(), "torn");
    /// assert_eq!(size, 5);
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of either.
    pub async fn for_each<S, T, E, H, F>(&self, stream: S, mut handle: H) -> Result<(), E>
    where
        S: Stream<Item = Result<T, E>>,
        E: fmt::Display,
        // Not an `AsyncFnMut`: with that, nobody could say that this is `Send`.
        H: FnMut(T) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let mut stream = pin!(stream);
        let mut counted = Counted::new(self.clone());
        while let Some(message) = poll_fn(|task| stream.as_mut().poll_next(task)).await {
            let message = message?;
            match counted.next(None) {
                Some(mut span) => {
                    let handled = span.in_scope(|| handle(message));
                    telling(handled).in_span(span).await?;
                }
                None => handle(message).await?,
            }
        }
        Ok(())
    }

    /// The same stream, with a span for each message that is read from it: from when it is given out until the next one is
    /// asked for, or the stream dropped. It is never current; for that see [`MessageSpans::for_each`].
    ///
    /// ```
    /// # use tokio_stream::StreamExt as _;
    /// # use tracecast_tower::MessageSpans;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let mut parts = std::pin::pin!(MessageSpans::new("Upload/Part").received(tokio_stream::iter(["first"])));
    /// assert_eq!(parts.next().await, Some("first"));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn received<S: Stream>(&self, stream: S) -> TracedMessages<S> {
        TracedMessages {
            stream,
            counted: Counted::new(self.clone()),
            span: None,
            asked: None,
            direction: Direction::Received,
        }
    }

    /// The same stream, with a span for each message that is made for it: from when it is asked for until it is there. It is
    /// never current.
    ///
    /// ```
    /// # use tokio_stream::StreamExt as _;
    /// # use tracecast_tower::MessageSpans;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let mut rows = std::pin::pin!(MessageSpans::new("Scan/Row").sent(tokio_stream::iter([1, 2])));
    /// assert_eq!(rows.next().await, Some(1));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sent<S: Stream>(&self, stream: S) -> TracedMessages<S> {
        TracedMessages {
            stream,
            counted: Counted::new(self.clone()),
            span: None,
            asked: None,
            direction: Direction::Sent,
        }
    }
}

/// Tells the current span of an error.
async fn telling<E: fmt::Display>(handled: impl Future<Output = Result<(), E>>) -> Result<(), E> {
    let result = handled.await;
    result.as_ref().err().into_iter().for_each(|error| tracecast::current().error(error));
    result
}

/// Where messages of a stream go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Received,
    Sent,
}

/// The messages that were seen.
#[derive(Debug)]
struct Counted {
    spans: MessageSpans,
    parent: Context,
    seen: u64,
}

impl Counted {
    fn new(spans: MessageSpans) -> Self {
        Counted { spans, parent: Context::current(), seen: 0 }
    }

    /// The span of the next message, if it has one.
    fn next(&mut self, start: Option<SystemTime>) -> Option<Span> {
        self.seen += 1;
        if self.seen > self.spans.cap {
            return None;
        }
        let builder = Span::builder(&self.spans.name, Kind::Internal).with_parent(&self.parent);
        let mut span = match start {
            Some(start) => builder.with_start(start).start(),
            None => builder.start(),
        };
        span.set(keys::message, self.seen);
        Some(span)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let rest = self.seen.saturating_sub(self.spans.cap);
        if rest > 0 {
            tracecast::current().set(keys::messages_without_span, rest);
        }
    }
}

pin_project! {
    /// A stream whose messages have spans. Made by [`MessageSpans`].
    ///
    /// ```
    /// use tracecast_tower::{MessageSpans, TracedMessages};
    ///
    /// fn rows() -> TracedMessages<impl tokio_stream::Stream<Item = u32>> {
    ///     MessageSpans::new("Scan/Row").sent(tokio_stream::iter([1, 2]))
    /// }
    /// # drop(rows());
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct TracedMessages<S> {
        #[pin]
        stream: S,
        counted: Counted,
        // Of the message that was given out last.
        span: Option<Span>,
        // When the next one was asked for.
        asked: Option<SystemTime>,
        direction: Direction,
    }
}

impl<S: fmt::Debug> fmt::Debug for TracedMessages<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracedMessages").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<S: Stream> Stream for TracedMessages<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        *this.span = None;
        if *this.direction == Direction::Sent && Span::is_on() {
            this.asked.get_or_insert_with(SystemTime::now);
        }
        let polled = this.stream.poll_next(task);
        if let Poll::Ready(Some(_)) = &polled {
            let span = this.counted.next(this.asked.take());
            match this.direction {
                Direction::Received => *this.span = span,
                Direction::Sent => drop(span),
            }
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}
