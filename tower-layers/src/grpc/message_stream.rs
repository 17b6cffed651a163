//! Spans for single messages, made where messages are handled. The layers see only frames of HTTP, which may hold
//! several messages or a part of one.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll};
use std::time::SystemTime;

use futures_core::Stream;
use pin_project_lite::pin_project;
use tracecast::{Context, FutureInSpan as _, Kind, Span};

use crate::grpc::keys;

/// The default cap: messages of one stream that have spans.
const CAP: u64 = 100;

/// Records a span per message of a stream, up to a cap of 100 or [another number](MessageSpans::with_cap). Further
/// messages are only counted, as `tc.rpc.messages_without_span` on the span that is current where they are read.
/// (Around a stream that a client sends, no span is current.) Without this type, a call has one span with the number of
/// its messages.
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
    /// Creates spans of this name for the first 100 messages of a stream.
    ///
    /// ```
    /// use tracecast_tower::MessageSpans;
    ///
    /// let spans = MessageSpans::new("Upload/Part");
    /// ```
    pub fn new(name: &str) -> Self {
        MessageSpans { name: name.into(), cap: CAP }
    }

    /// Sets how many messages of a stream have spans.
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

    /// Passes each message to `handle`, one after the other. The message's span lasts until `handle` is done, and is
    /// current in it. An error, from the stream or from `handle`, ends the loop. The parent is the span that is current
    /// when `for_each` is called, even if the future is spawned as a task. For messages that are handled concurrently
    /// use [`MessageSpans::for_stream`].
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
    /// Returns the first error of the stream or of `handle`.
    pub fn for_each<S, T, E, H, F>(
        &self,
        stream: S,
        mut handle: H,
    ) -> impl Future<Output = Result<(), E>> + use<S, T, E, H, F>
    where
        S: Stream<Item = Result<T, E>>,
        E: fmt::Display,
        // Not an `AsyncFnMut`: callers could not require its future to be `Send`.
        H: FnMut(T) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let mut spans = self.for_stream();
        async move {
            let mut stream = pin!(stream);
            while let Some(message) = poll_fn(|task| stream.as_mut().poll_next(task)).await {
                let message = message?;
                spans.handle(|| handle(message)).await?;
            }
            Ok(())
        }
    }

    /// Returns the spans of one stream's messages, for a handler that works on several messages at once, answers while
    /// it reads, or receives each sender's context. Call it in the handler of the stream: the span that is current
    /// there is the parent of the messages' spans.
    ///
    /// ```
    /// use futures::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
    /// use tonic::{Request, Response, Status, Streaming};
    /// use tracecast::Carrier;
    /// use tracecast_tower::MessageSpans;
    ///
    /// struct Command { text: String, carrier: Carrier }
    /// struct Answer(usize);
    ///
    /// async fn session(
    ///     request: Request<Streaming<Command>>,
    /// ) -> Result<Response<BoxStream<'static, Result<Answer, Status>>>, Status> {
    ///     let mut spans = MessageSpans::new("Session/Command").for_stream();
    ///     let answers = request.into_inner().map_ok(move |command| {
    ///         let sender = command.carrier.extract();
    ///         spans.handle_below(&sender, || run(command)) // The span of the message is current in `run`.
    ///     });
    ///     Ok(Response::new(answers.try_buffer_unordered(8).boxed()))
    /// }
    ///
    /// async fn run(command: Command) -> Result<Answer, Status> {
    ///     Ok(Answer(command.text.len()))
    /// }
    /// ```
    pub fn for_stream(&self) -> StreamSpans {
        StreamSpans { spans: self.clone(), stream: Context::current(), seen: 0 }
    }

    /// Wraps a stream whose messages are read. Each message has a span, which lasts until the next message is requested
    /// or the stream is dropped. The span is never current; for that use [`MessageSpans::for_each`].
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
        TracedMessages { stream, spans: self.for_stream(), span: None, asked: None, direction: Direction::Received }
    }

    /// Wraps a stream whose messages are sent. Each message has a span, which lasts from the request for the message
    /// until it is ready. The span is never current.
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
        TracedMessages { stream, spans: self.for_stream(), span: None, asked: None, direction: Direction::Sent }
    }
}

/// Records an error on the current span.
async fn telling<T, E: fmt::Display>(handled: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let result = handled.await;
    result.as_ref().err().into_iter().for_each(|error| tracecast::current().error(error));
    result
}

/// The direction of a stream's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Received,
    Sent,
}

/// Makes the spans of the messages of one stream. Made by [`MessageSpans::for_stream`].
///
/// Messages beyond the cap have no span of their own: spans in their handlers are children of the span that would have
/// been the parent.
///
/// ```
/// use tracecast_tower::{MessageSpans, StreamSpans};
///
/// let spans: StreamSpans = MessageSpans::new("Session/Command").for_stream();
/// ```
#[derive(Debug)]
pub struct StreamSpans {
    spans: MessageSpans,
    /// The stream's span.
    stream: Context,
    seen: u64,
}

impl StreamSpans {
    /// Handles the next message: calls `handle`, and runs the future that it returns, in a span below the stream's. An
    /// error is recorded on that span. The future can be spawned, or polled beside those of other messages.
    ///
    /// ```
    /// # use tracecast_tower::MessageSpans;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let mut spans = MessageSpans::new("Session/Command").for_stream();
    /// let [one, other] = ["one", "other"].map(|text| spans.handle(async move || Ok::<_, String>(text.len())));
    /// assert_eq!(futures::future::try_join(one, other).await, Ok((3, 5)));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle<T, E, H, F>(&mut self, handle: H) -> impl Future<Output = Result<T, E>> + use<T, E, H, F>
    where
        E: fmt::Display,
        H: FnOnce() -> F,
        F: Future<Output = Result<T, E>>,
    {
        self.handle_below(&Context::default(), handle)
    }

    /// Handles the next message in a span below its sender's, with a link to the stream's span. `sender` is the context
    /// that came with the message, as in a [`Carrier`](tracecast::Carrier) field; if it is invalid, the stream's span
    /// is the parent.
    ///
    /// ```
    /// # use tracecast_tower::MessageSpans;
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let mut spans = MessageSpans::new("Session/Command").for_stream();
    /// let carrier = tracecast::Carrier::inject(); // in a field of the message
    /// let handled = spans.handle_below(&carrier.extract(), async || Ok::<_, String>(7)).await;
    /// assert_eq!(handled, Ok(7));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle_below<T, E, H, F>(
        &mut self,
        sender: &Context,
        handle: H,
    ) -> impl Future<Output = Result<T, E>> + use<T, E, H, F>
    where
        E: fmt::Display,
        H: FnOnce() -> F,
        F: Future<Output = Result<T, E>>,
    {
        let sender = sender.is_valid().then_some(sender);
        let span = self.next(sender, None).filter(|span| !span.is_none());
        let mut span = span.unwrap_or_else(|| Span::non_recording(sender.unwrap_or(&self.stream), Kind::Internal));
        // Functions with `#[tc_span]` take their parent when they are called.
        let handled = span.in_scope(handle);
        telling(handled).in_span(span)
    }

    /// Starts the span of the next message; `None` if the cap was reached, and then the message is only counted.
    fn next(&mut self, sender: Option<&Context>, start: Option<SystemTime>) -> Option<Span> {
        self.seen += 1;
        if let Some(rest) = self.seen.checked_sub(self.spans.cap).filter(|rest| *rest > 0) {
            tracecast::current().set(keys::messages_without_span, rest);
            return None;
        }
        let mut builder = Span::builder(&self.spans.name, Kind::Internal).with_parent(sender.unwrap_or(&self.stream));
        if sender.is_some() && self.stream.is_valid() {
            builder = builder.with_links(&self.stream);
        }
        if let Some(start) = start {
            builder = builder.with_start(start);
        }
        let mut span = builder.start();
        span.set(keys::message, self.seen);
        Some(span)
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
        spans: StreamSpans,
        // The span of the message that was returned last.
        span: Option<Span>,
        // The time at which the next message was requested.
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
            let span = this.spans.next(None, this.asked.take());
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
