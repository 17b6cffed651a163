//! A peer in Rust among those of other languages, over gRPC. It calls the next of a route, fails as it is told, and
//! says what reached it, so that somebody can compare.
//!
//! It prints the port on which it listens, and serves until its standard input ends. The messages are those of
//! `.ci/languages/relay.proto`, where the peers in other languages are too.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::http::{self, uri::PathAndQuery};
use tonic::codegen::{Bytes, Service};
use tonic::server::NamedService;
use tonic::transport::{Endpoint, Server};
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::{Layer, service_fn};
use tracecast::prelude::*;
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, TracedChannel};

const PASS: &str = "/relay.v1.Relay/Pass";
const FAIL: &str = "/relay.v1.Relay/Fail";
const FAIL_MIDWAY: &str = "/relay.v1.Relay/FailMidway";
const TRY: &str = "/relay.v1.Relay/Try";
const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let telemetry = tracecast::init();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    Server::builder()
        .layer(GrpcServerLayer::new())
        .add_service(Relay)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), end_of_input())
        .await?;
    eprintln!("{}", telemetry.shutdown(TIMEOUT));
    Ok(())
}

/// A thread of its own waits: the runtime would not end before a task that reads.
async fn end_of_input() {
    let (ended, end) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.send(())
    });
    let _ = end.await;
}

#[derive(Clone)]
struct Relay;

impl NamedService for Relay {
    const NAME: &'static str = "relay.v1.Relay";
}

impl Service<http::Request<Body>> for Relay {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            Ok(match request.uri().path() {
                PASS => server().unary(service_fn(pass), request).await,
                FAIL => server().unary(service_fn(fail), request).await,
                FAIL_MIDWAY => server().server_streaming(service_fn(fail_midway), request).await,
                TRY => server().unary(service_fn(try_out), request).await,
                path => Status::unimplemented(path.to_owned()).into_http(),
            })
        })
    }
}

fn server<Q, A>() -> tonic::server::Grpc<ProstCodec<A, Q>>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + 'static,
{
    tonic::server::Grpc::new(ProstCodec::default())
}

async fn pass(request: Request<Route>) -> Result<Response<Hops>, Status> {
    let mut hops = vec![hop(&request)];
    let Route { next, baggage } = request.into_inner();
    if let Some((address, rest)) = next.split_first() {
        let onward = Route { next: rest.to_vec(), baggage: HashMap::new() };
        let context = context_with(&baggage)?;
        let answer = call_pass(address, onward).in_context(&context).await?;
        hops.extend(answer.hops);
    }
    Ok(Response::new(Hops { hops }))
}

fn hop(request: &Request<Route>) -> Hop {
    let header = |name| request.metadata().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let context = Context::current();
    Hop {
        peer: std::env::var("OTEL_SERVICE_NAME").unwrap_or_default(),
        traceparent: header("traceparent").to_owned(),
        tracestate: header("tracestate").to_owned(),
        baggage: context.baggage_entries().map(|(key, value)| (key.to_owned(), value.into_owned())).collect(),
    }
}

fn context_with(baggage: &HashMap<String, String>) -> Result<Context, Status> {
    let added = |context: Context, (key, value): (&String, &String)| context.with_baggage(key, value);
    baggage.iter().try_fold(Context::current(), added).map_err(|error| Status::invalid_argument(error.to_string()))
}

async fn call_pass(address: &str, route: Route) -> Result<Hops, Status> {
    let mut client = client(address).await?;
    client.unary(request(route), PathAndQuery::from_static(PASS), ProstCodec::default()).await.map(Response::into_inner)
}

async fn fail(request: Request<Failure>) -> Result<Response<Hops>, Status> {
    Err(request.into_inner().into())
}

type Messages = Pin<Box<dyn tokio_stream::Stream<Item = Result<Hops, Status>> + Send>>;

async fn fail_midway(request: Request<Failure>) -> Result<Response<Messages>, Status> {
    let failure = request.into_inner();
    if !failure.opened {
        return Err(failure.into());
    }
    let messages = (0..failure.messages).map(|_| Ok(Hops::default()));
    let end = std::iter::once_with(|| Err(failure.into()));
    Ok(Response::new(Box::pin(tokio_stream::iter(messages.chain(end)))))
}

async fn try_out(request: Request<Trial>) -> Result<Response<Ending>, Status> {
    let Trial { address, midway, failure } = request.into_inner();
    let (mut client, failure) = (client(&address).await?, failure.unwrap_or_default());
    let (mut messages, codec) = (0, ProstCodec::<Failure, Hops>::default());
    let ended = if midway {
        count(&mut messages, client, failure).await
    } else {
        client.unary(self::request(failure), PathAndQuery::from_static(FAIL), codec).await.map(drop)
    };
    let status = ended.err().unwrap_or_else(|| Status::new(Code::Ok, ""));
    let (code, message, details) = (status.code() as i32, status.message().to_owned(), status.details().to_vec());
    Ok(Response::new(Ending { code, message, details, messages }))
}

async fn count(messages: &mut u32, mut client: Grpc<TracedChannel>, failure: Failure) -> Result<(), Status> {
    let path = PathAndQuery::from_static(FAIL_MIDWAY);
    let answer = client.server_streaming(request(failure), path, ProstCodec::<Failure, Hops>::default()).await?;
    let mut stream = answer.into_inner();
    while let Some(message) = stream.next().await {
        message?;
        *messages += 1;
    }
    Ok(())
}

async fn client(address: &str) -> Result<Grpc<TracedChannel>, Status> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"));
    let endpoint = endpoint.map_err(|error| Status::invalid_argument(format!("`{address}`: {error}")))?;
    let mut client = Grpc::new(GrpcClientLayer::new().layer(endpoint.connect_lazy()));
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(client)
}

fn request<M>(message: M) -> Request<M> {
    let mut request = Request::new(message);
    request.set_timeout(TIMEOUT);
    request
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        Status::with_details(Code::from_i32(failure.code), failure.message, Bytes::from(failure.details))
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Route {
    #[prost(string, repeated, tag = "1")]
    next: Vec<String>,
    #[prost(map = "string, string", tag = "2")]
    baggage: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Hops {
    #[prost(message, repeated, tag = "1")]
    hops: Vec<Hop>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Hop {
    #[prost(string, tag = "1")]
    peer: String,
    #[prost(string, tag = "2")]
    traceparent: String,
    #[prost(string, tag = "3")]
    tracestate: String,
    #[prost(map = "string, string", tag = "4")]
    baggage: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Failure {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(bytes = "vec", tag = "3")]
    details: Vec<u8>,
    #[prost(uint32, tag = "4")]
    messages: u32,
    #[prost(bool, tag = "5")]
    opened: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Trial {
    #[prost(string, tag = "1")]
    address: String,
    #[prost(bool, tag = "2")]
    midway: bool,
    #[prost(message, optional, tag = "3")]
    failure: Option<Failure>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Ending {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(bytes = "vec", tag = "3")]
    details: Vec<u8>,
    #[prost(uint32, tag = "4")]
    messages: u32,
}
