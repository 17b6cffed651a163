//! A gRPC service over real sockets that ends its calls in every way, and what became of their spans.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use super::{context, hang, of_kind};
use bytes::{Buf, BufMut};
use futures::{FutureExt as _, TryStreamExt as _};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::body::Body;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};
use tower_layer::Layer;
use tower_service::Service;
use tracecast::prelude::*;
use tracecast::testing::{FinishedSpan, Reader};
use tracecast::{Carrier, Kind, Outcome, OwnedValue};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, MessageSpans, TracedChannel};

/// Messages are texts.
#[derive(Clone, Copy, Default)]
pub struct Texts;

impl Codec for Texts {
    type Encode = String;
    type Decode = String;
    type Encoder = Texts;
    type Decoder = Texts;

    fn encoder(&mut self) -> Texts {
        Texts
    }

    fn decoder(&mut self) -> Texts {
        Texts
    }
}

impl Encoder for Texts {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, text: String, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(text.as_bytes());
        Ok(())
    }
}

impl Decoder for Texts {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        String::from_utf8(bytes.to_vec()).map(Some).map_err(|error| Status::invalid_argument(error.to_string()))
    }
}

pub const UNARY: &str = "/test.v1.Echo/Unary";
pub const SERVER_STREAM: &str = "/test.v1.Echo/ServerStream";
pub const CLIENT_STREAM: &str = "/test.v1.Echo/ClientStream";
pub const BIDI: &str = "/test.v1.Echo/Bidi";
pub const COMMANDS: &str = "/test.v1.Echo/Commands";
pub const SPAWNED: &str = "/test.v1.Echo/Spawned";

/// Does what the messages say.
#[derive(Clone, Default)]
pub struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "test.v1.Echo";
}

type Answer = Result<Response<String>, Status>;
type Texting = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(Texts)
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip)
                .max_decoding_message_size(1 << 20);
            Ok(match request.uri().path() {
                UNARY => grpc.unary(tower::service_fn(unary), request).await,
                SERVER_STREAM => grpc.server_streaming(tower::service_fn(server_stream), request).await,
                CLIENT_STREAM => grpc.client_streaming(tower::service_fn(client_stream), request).await,
                COMMANDS => grpc.streaming(tower::service_fn(commands), request).await,
                SPAWNED => grpc.client_streaming(tower::service_fn(spawned), request).await,
                BIDI => grpc.streaming(tower::service_fn(bidi), request).await,
                path => Status::unimplemented(path.to_owned()).into_http(),
            })
        })
    }
}

#[tc_span("Handler/Unary")]
async fn unary(request: Request<String>) -> Answer {
    obey(request.get_ref()).await.map(Response::new)
}

async fn server_stream(request: Request<String>) -> Result<Response<Texting>, Status> {
    let text = request.into_inner();
    let (count, last) = text.split_once(' ').map_or((text.as_str(), "end"), |(count, last)| (count, last));
    let count: usize = count.parse().unwrap_or_default();
    let last = last.to_owned();
    let messages = tokio_stream::iter((0..count).map(|n| Ok(format!("message {n}"))));
    let ending = futures_once(async move {
        if last == "end" {
            return None;
        }
        // tonic sends what it has when there is nothing more for now.
        tokio::task::yield_now().await;
        Some(obey(&last).await)
    });
    Ok(Response::new(Box::pin(messages.chain(ending.filter_map(|end| end)))))
}

async fn client_stream(request: Request<Streaming<String>>) -> Answer {
    let mut stream = request.into_inner();
    let mut count = 0;
    let first = stream.message().await?.unwrap_or_default();
    if let Some(cap) = first.strip_prefix("spans ").and_then(|cap| cap.parse().ok()) {
        let spans = MessageSpans::new("Handler/Message").with_cap(cap);
        spans
            .for_each(stream, |text: String| {
                count += 1;
                async move { handle(&text).await }
            })
            .await?;
        return Ok(Response::new(count.to_string()));
    }
    obey(&first).await?;
    count += 1;
    while let Some(text) = stream.message().await? {
        obey(&text).await?;
        count += 1;
    }
    Ok(Response::new(count.to_string()))
}

#[tc_span("Handler/Handle")]
async fn handle(text: &str) -> Result<(), Status> {
    obey(text).await.map(drop)
}

async fn bidi(request: Request<Streaming<String>>) -> Result<Response<Texting>, Status> {
    Ok(Response::new(Box::pin(request.into_inner())))
}

/// Works on several commands at once, and answers while it reads. A command may begin with a `traceparent`.
async fn commands(request: Request<Streaming<String>>) -> Result<Response<Texting>, Status> {
    let mut spans = MessageSpans::new("Session/Command").with_cap(3).for_stream();
    let answers = request.into_inner().map_ok(move |command| match command.split_once('|') {
        Some((traceparent, command)) => {
            let carrier = Carrier::new(traceparent.to_owned());
            let command = command.to_owned();
            spans.handle_below(&carrier.extract(), || run(command)).left_future()
        }
        None => spans.handle(|| run(command)).right_future(),
    });
    Ok(Response::new(Box::pin(answers.try_buffer_unordered(8))))
}

static RELEASED: Notify = Notify::const_new();

#[tc_span("Session/Run")]
async fn run(command: String) -> Result<String, Status> {
    match command.as_str() {
        "hold" => RELEASED.notified().await,
        "release" => RELEASED.notify_one(),
        _ => return obey(&command).await,
    }
    Ok(command)
}

/// Reads in a task that has no current span.
async fn spawned(request: Request<Streaming<String>>) -> Answer {
    let spans = MessageSpans::new("Session/Command").with_cap(1);
    let handled = spans.for_each(request.into_inner(), |command| async { run(command).await.map(drop) });
    tokio::spawn(handled).await.unwrap()?;
    Ok(Response::new("done".to_owned()))
}

/// A stream of one.
fn futures_once<T>(future: impl Future<Output = T>) -> impl Stream<Item = T> {
    struct Once<F>(Option<Pin<Box<F>>>);
    impl<F: Future> Stream for Once<F> {
        type Item = F::Output;
        fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<F::Output>> {
            let Some(future) = &mut self.0 else { return Poll::Ready(None) };
            let polled = future.as_mut().poll(task).map(Some);
            if polled.is_ready() {
                self.0 = None;
            }
            polled
        }
    }
    Once(Some(Box::pin(future)))
}

/// Says what is current as well, so that tests can look at it from outside.
async fn obey(text: &str) -> Result<String, Status> {
    match text {
        "panic" => panic!("as it was told"),
        "hang" => hang().await,
        "context" => Ok(context()),
        text => match text.strip_prefix("fail ").and_then(|code| code.parse().ok()) {
            Some(code) => Err(Status::new(Code::from_i32(code), "as it was told")),
            None => Ok(text.to_owned()),
        },
    }
}

/// A server that runs, and its client.
pub struct World {
    pub address: SocketAddr,
    pub client: tonic::client::Grpc<TracedChannel>,
    pub stop: Option<oneshot::Sender<()>>,
    pub server: JoinHandle<()>,
}

impl World {
    pub async fn new() -> Self {
        World::with(GrpcServerLayer::new(), Server::builder()).await
    }

    pub async fn with(layer: GrpcServerLayer, server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let router = server.layer(layer).add_service(Echo);
        let incoming = TcpListenerStream::new(listener);
        let server = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            router.serve_with_incoming_shutdown(incoming, stopped).await.unwrap();
        });
        World { address, client: client(address), stop: Some(stop), server }
    }

    /// The same with another layer around its client's channel.
    pub fn calling(mut self, layer: &GrpcClientLayer) -> Self {
        self.client = tonic::client::Grpc::new(layer.layer(channel(self.address)));
        self
    }

    /// A unary call.
    pub async fn unary(&mut self, text: &str) -> Result<String, Status> {
        self.unary_with(Request::new(text.to_owned())).await
    }

    pub async fn unary_with(&mut self, request: Request<String>) -> Result<String, Status> {
        self.call(request, UNARY).await
    }

    pub async fn call(&mut self, request: Request<String>, path: &'static str) -> Result<String, Status> {
        self.client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = http::uri::PathAndQuery::from_static(path);
        self.client.unary(request, path, Texts).await.map(Response::into_inner)
    }

    pub async fn server_stream(&mut self, request: Request<String>) -> Result<Streaming<String>, Status> {
        self.client.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(SERVER_STREAM);
        self.client.server_streaming(request, path, Texts).await.map(Response::into_inner)
    }

    pub async fn client_stream(&mut self, texts: &[&str]) -> Result<String, Status> {
        self.client_stream_to(CLIENT_STREAM, texts).await
    }

    pub async fn client_stream_to(&mut self, path: &'static str, texts: &[&str]) -> Result<String, Status> {
        self.client.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(path);
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let request = Request::new(tokio_stream::iter(texts));
        self.client.client_streaming(request, path, Texts).await.map(Response::into_inner)
    }

    pub async fn bidi(
        &mut self,
        texts: impl Stream<Item = String> + Send + 'static,
    ) -> Result<Streaming<String>, Status> {
        self.bidi_to(BIDI, texts).await
    }

    pub async fn bidi_to(
        &mut self,
        path: &'static str,
        texts: impl Stream<Item = String> + Send + 'static,
    ) -> Result<Streaming<String>, Status> {
        self.client.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(path);
        self.client.streaming(Request::new(texts), path, Texts).await.map(Response::into_inner)
    }
}

pub fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy()
}

pub fn client(address: SocketAddr) -> tonic::client::Grpc<TracedChannel> {
    tonic::client::Grpc::new(GrpcClientLayer::new().layer(channel(address)))
}

/// Which status a span was given, how it ended, and the messages in both directions.
#[track_caller]
pub fn check(spans: &[FinishedSpan], kind: Kind, code: Code, outcome: Outcome, messages: [u64; 2]) {
    let span = of_kind(spans, kind);
    let number = |key| match span.attribute(key) {
        Some(OwnedValue::U64(number)) => *number,
        other => panic!("{key} is {other:?} on {span:#?}"),
    };
    let counted = [number("tc.rpc.request.messages"), number("tc.rpc.response.messages")];
    assert_eq!(span.attribute("rpc.grpc.status_code"), Some(&OwnedValue::I64(code as i64)), "{kind:?} {span:#?}");
    assert_eq!((span.outcome, counted), (outcome, messages), "{kind:?} {span:#?}");
    assert!(span.end_time() > span.start_time(), "{kind:?} {span:#?}");
    let failed = span.attribute("error.type").is_some();
    assert_eq!(failed, outcome.is_error(), "{kind:?} {span:#?}");
}

/// The lines of a metric, once they are as expected; or what they are after a while.
pub async fn lines(reader: &mut Reader, name: &str, expected: &str) -> String {
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let all = reader.snapshot().to_string();
        let mut found: Vec<_> = all.lines().filter(|line| line.starts_with(name)).collect();
        // Methods stand in the order in which they were learnt.
        let place = |line: &&str| expected.lines().position(|expected| expected == *line);
        found.sort_by_key(place);
        let found = found.join("\n");
        if found == expected || Instant::now() > limit {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
