//! The Rust peer among peers in other languages, over gRPC. It calls the next peer of a route, fails on request, and
//! returns what reached it, to be compared.

mod messages;
#[path = "../../rpc.rs"]
#[allow(dead_code, reason = "it is the demo's, and this needs a part of it")]
mod rpc;

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::io::Read;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::body::Body;
use tonic::codegen::Bytes;
use tonic::codegen::http::{self, HeaderMap};
use tonic::transport::Server;
use tonic::{Code, Status};
use tracecast::Context;
use tracecast::prelude::*;
use tracecast_tower::{GrpcServerLayer, TracedChannel};

use crate::messages::{Ending, FAIL, FAIL_MIDWAY, Failure, Hop, Hops, PASS, Route, TRY, Trial};

const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let telemetry = tracecast::init();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    Server::builder()
        .layer(GrpcServerLayer::new())
        .add_service(rpc::Served(Relay))
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), end_of_input())
        .await?;
    eprintln!("{}", telemetry.shutdown(TIMEOUT));
    Ok(())
}

/// A separate thread waits: a task that reads would keep the runtime from ending.
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

impl rpc::Methods for Relay {
    const NAME: &'static str = "relay.v1.Relay";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        match request.uri().path() {
            PASS => {
                let hop = hop(request.headers());
                rpc::unary(request, async |route| pass(hop, route).await).await
            }
            FAIL => rpc::unary(request, async |failure: Failure| Err::<Hops, _>(failure.into())).await,
            FAIL_MIDWAY => rpc::streaming(request, fail_midway).await,
            TRY => rpc::unary(request, try_out).await,
            _ => rpc::unimplemented(&request),
        }
    }
}

async fn pass(hop: Hop, Route { next, baggage }: Route) -> Result<Hops, Status> {
    let mut hops = vec![hop];
    if let Some((address, rest)) = next.split_first() {
        let onward = Route { next: rest.to_vec(), baggage: HashMap::new() };
        let (context, channel) = (context_with(&baggage)?, rpc::channel(address)?);
        let answer: Hops = in_time(rpc::call(&channel, PASS, onward)).in_context(&context).await?;
        hops.extend(answer.hops);
    }
    Ok(Hops { hops })
}

/// Returns what reached this peer.
fn hop(headers: &HeaderMap) -> Hop {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
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

fn fail_midway(failure: Failure) -> Result<impl Stream<Item = Result<Hops, Status>> + Send, Status> {
    if !failure.opened {
        return Err(failure.into());
    }
    let messages = (0..failure.messages).map(|_| Ok(Hops::default()));
    let end = std::iter::once_with(|| Err(failure.into()));
    Ok(tokio_stream::iter(messages.chain(end)))
}

async fn try_out(Trial { address, midway, failure }: Trial) -> Result<Ending, Status> {
    let (channel, failure) = (rpc::channel(&address)?, failure.unwrap_or_default());
    let mut messages = 0;
    let ended = if midway {
        in_time(count(&mut messages, &channel, failure)).await
    } else {
        in_time(rpc::call::<_, Hops>(&channel, FAIL, failure)).await.map(drop)
    };
    let status = ended.err().unwrap_or_else(|| Status::new(Code::Ok, ""));
    let (code, message, details) = (status.code() as i32, status.message().to_owned(), status.details().to_vec());
    Ok(Ending { code, message, details, messages })
}

async fn count(messages: &mut u32, channel: &TracedChannel, failure: Failure) -> Result<(), Status> {
    let mut stream = rpc::open::<_, Hops>(channel, FAIL_MIDWAY, failure).await?;
    while let Some(message) = stream.next().await {
        message?;
        *messages += 1;
    }
    Ok(())
}

/// Limits the wait for a peer that hangs.
async fn in_time<A>(call: impl Future<Output = Result<A, Status>>) -> Result<A, Status> {
    let late = |_| Status::deadline_exceeded("the peer did not answer");
    tokio::time::timeout(TIMEOUT, call).await.map_err(late)?
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        Status::with_details(Code::from_i32(failure.code), failure.message, Bytes::from(failure.details))
    }
}
