//! A process with one layer: a server thread, a client thread, and one connection between them. It makes calls on
//! command, and reports their cost.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};

use super::echo::{self, Raw};
use super::variants::{VARIANTS, Variant};
use crate::cpu;

/// Concurrent calls.
const IN_FLIGHT: u64 = 16;

/// Reads commands line by line until its input ends: `unary 100` or `stream 5`.
pub fn run(name: &str) {
    let variant = VARIANTS.iter().find(|variant| variant.name == name).expect("a known variant");
    let _started = (variant.start)();
    let (address, server) = serve(variant);
    let runtime = runtime();
    let client = runtime.block_on(connect(address));
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let (kind, calls) = line.split_once(' ').expect("what, and how often");
        let calls: u64 = calls.parse().expect("a number of calls");
        let before = (cpu::of_process(), server.now());
        runtime.block_on(make(kind, calls, &client, variant.traceparent));
        let after = (cpu::of_process(), server.now());
        let per_call = |time: Duration| time.as_nanos() as f64 / calls as f64;
        println!("{} {}", per_call(after.0 - before.0), per_call(after.1 - before.1));
        std::io::stdout().flush().expect("somebody listens");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn serve(variant: &'static Variant) -> (SocketAddr, cpu::Thread) {
    let (told, tell) = mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            told.send((address, cpu::Thread::current())).expect("somebody waits");
            (variant.serve)(TcpListenerStream::new(listener)).await.expect("the server runs");
        });
    });
    tell.recv().expect("the server starts")
}

async fn connect(address: SocketAddr) -> Grpc<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    Grpc::new(endpoint.connect().await.expect("the server listens"))
}

async fn make(kind: &str, calls: u64, client: &Grpc<Channel>, traceparent: Option<&'static str>) {
    if kind == "stream" {
        for _ in 0..calls {
            stream(client.clone(), traceparent).await;
        }
        return;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let client = client.clone();
        tasks.spawn(async move {
            for _ in 0..calls / IN_FLIGHT {
                unary(client.clone(), traceparent).await;
            }
        });
    }
    tasks.join_all().await;
}

fn request(traceparent: Option<&'static str>) -> tonic::Request<Bytes> {
    let mut request = tonic::Request::new(Bytes::from_static(echo::MESSAGE));
    if let Some(traceparent) = traceparent {
        request.metadata_mut().insert("traceparent", traceparent.parse().expect("a header"));
    }
    request
}

async fn unary(mut client: Grpc<Channel>, traceparent: Option<&'static str>) {
    client.ready().await.expect("a connection");
    let path = PathAndQuery::from_static(echo::UNARY);
    let response = client.unary(request(traceparent), path, Raw).await.expect("an answer");
    assert_eq!(response.get_ref(), echo::MESSAGE);
}

async fn stream(mut client: Grpc<Channel>, traceparent: Option<&'static str>) {
    client.ready().await.expect("a connection");
    let path = PathAndQuery::from_static(echo::STREAM);
    let response = client.server_streaming(request(traceparent), path, Raw).await.expect("an answer");
    let (mut messages, mut count) = (response.into_inner(), 0);
    while messages.message().await.expect("a message").is_some() {
        count += 1;
    }
    assert_eq!(count, echo::MESSAGES);
}
