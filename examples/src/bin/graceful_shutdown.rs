//! A service on axum and tonic that shuts down gracefully on SIGTERM: load balancers learn of it first, running
//! requests finish, and telemetry is exported last.
//!
//! It serves uploads over HTTP and gRPC, `/metrics` for Prometheus, and health over both. For `BALANCER_DELAY_MS` after it has
//! announced the shutdown it still accepts requests.

#[path = "../rpc.rs"]
#[allow(dead_code, reason = "it is the demo's, and this needs a part of it")]
mod rpc;

use std::io;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, put};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};
use tonic_health::ServingStatus;
use tonic_prost::ProstCodec;
use tower::service_fn;
use tracecast::Handle;
use tracecast::prelude::*;
use tracecast::shutdown::{Shutdown, State as HealthState};
use tracecast_tower::{GrpcServerLayer, HttpServerLayer};

type Failure = Box<dyn std::error::Error + Send + Sync>;

// ANCHOR: routes
/// For Prometheus, with exemplars if it accepts them. Reading metrics may block, because it runs the program's gauge
/// callbacks.
async fn metrics(State(telemetry): State<Handle>, headers: HeaderMap) -> impl IntoResponse {
    let rendered = spawn_blocking(move || {
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        telemetry.render_metrics(accept)
    });
    let answer = rendered.await.map(|(content_type, text)| ([(CONTENT_TYPE, content_type)], text));
    answer.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

/// For balancers and readiness probes.
async fn ready(State(telemetry): State<Handle>) -> (StatusCode, &'static str) {
    let state = telemetry.health().state();
    let code = if state == HealthState::Running { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, state.as_str())
}

fn router(telemetry: Handle) -> Router {
    let observed = Router::new().route("/upload", put(upload)).layer(HttpServerLayer::new());
    // Probes and scrapes are frequent, and are not traced.
    observed.route("/metrics", get(metrics)).route("/ready", get(ready)).with_state(telemetry)
}
// ANCHOR_END: routes

#[tc_metric(in_flight = "tc_http_uploads_active")]
async fn read(body: axum::body::Body) -> Result<Bytes, axum::Error> {
    axum::body::to_bytes(body, 1 << 20).await
}

async fn upload(body: axum::body::Body) -> Result<String, StatusCode> {
    let bytes = read(body).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(format!("{} bytes", bytes.len()))
}

#[derive(Clone, PartialEq, prost::Message)]
struct Part {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Stored {
    #[prost(uint64, tag = "1")]
    bytes: u64,
}

#[tc_metric(in_flight = "tc_grpc_uploads_active")]
async fn store(request: Request<Streaming<Part>>) -> Result<Response<Stored>, Status> {
    let (mut parts, mut bytes) = (request.into_inner(), 0);
    while let Some(part) = parts.next().await {
        bytes += part?.bytes.len() as u64;
    }
    Ok(Response::new(Stored { bytes }))
}

#[derive(Clone)]
struct Store;

impl rpc::Methods for Store {
    const NAME: &'static str = "store.v1.Store";

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        let codec = ProstCodec::<Stored, Part>::default();
        tonic::server::Grpc::new(codec).client_streaming(service_fn(store), request).await
    }
}

/// Notifies the billing service, which does not exist here, that this process ends.
async fn report_usage() -> io::Result<()> {
    TcpStream::connect("127.0.0.1:1").await.map(drop)
}

fn balancer_delay() -> Duration {
    let delay = std::env::var("BALANCER_DELAY_MS").ok().and_then(|delay| delay.parse().ok());
    Duration::from_millis(delay.unwrap_or(5_000))
}

// ANCHOR: main
/// Servers accept connections until this future completes.
async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let telemetry = tracecast::init();
    let handle = telemetry.handle(); // `Shutdown` takes the guard
    let (http, grpc) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    println!("http {} grpc {}", http.local_addr()?, grpc.local_addr()?);

    let stop = watch::Sender::new(false);
    let http = axum::serve(http, router(handle)).with_graceful_shutdown(stopped(stop.subscribe()));
    let http = tokio::spawn(http.into_future());
    let (mut health, health_service) = tonic_health::server::health_reporter();
    let grpc = Server::builder()
        .layer(GrpcServerLayer::new())
        .add_service(health_service)
        .add_service(rpc::Served(Store))
        .serve_with_incoming_shutdown(TcpListenerStream::new(grpc), stopped(stop.subscribe()));
    let grpc = tokio::spawn(grpc);

    let leave_balancers = async move || {
        // `/ready` answers 503 from now on. Load balancers need a moment to notice it, and send requests until then.
        health.set_service_status("", ServingStatus::NotServing).await;
        tokio::time::sleep(balancer_delay()).await;
        // Ends the health-watch streams: a drain waits for every stream.
        health.clear_service_status("").await;
        stop.send_replace(true);
    };
    let _armed = Shutdown::new(telemetry)
        .with_runtime(tokio::runtime::Handle::current())
        .step("leave_balancers", leave_balancers)
        .step("drain_http", async || http.await?.map_err(Failure::from))
        .within(Duration::from_secs(10))
        .step("drain_grpc", async || grpc.await?.map_err(Failure::from))
        .within(Duration::from_secs(10))
        .step("report_usage", report_usage)
        .best_effort()
        .on_signals();
    // The shutdown exits the process.
    std::future::pending().await
}
// ANCHOR_END: main
