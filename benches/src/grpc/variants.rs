//! The layers, each configured as its documentation recommends, with an exporter that discards its input.
//!
//! Each runs in a process of its own: subscribers, providers and recorders belong to a process.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

use fastrace_tonic::FastraceServerLayer;
use opentelemetry_instrumentation_tower::http::server::Layer as OtelTowerLayer;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic_tracing_opentelemetry::middleware::server::OtelGrpcLayer;
use tower_http::trace::TraceLayer;
use tower_layer::{Identity, Layer};
use tracecast_tower::GrpcServerLayer;

use super::by_hand;
use super::direct::{self, Trivial};
use super::echo::Echo;
use super::floor::{Floor, Grpc};
use crate::peers;

/// The headers of a sampled caller, and of an unsampled one.
pub const SAMPLED: Option<&str> = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
pub const UNSAMPLED: Option<&str> = Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");

/// A value that must live as long as calls are made.
pub type Started = Box<dyn Any>;
type Serve = fn(TcpListenerStream) -> Serving;
type Direct = fn(Option<&'static str>, u64);
type Serving = Pin<Box<dyn Future<Output = Result<(), tonic::transport::Error>>>>;

/// A layer around the same service.
pub struct Variant {
    pub name: &'static str,
    /// The caller's headers.
    pub traceparent: Option<&'static str>,
    pub start: fn() -> Started,
    pub serve: Serve,
    /// Makes this number of calls without a network.
    pub direct: Direct,
    /// Whether each call is a span that is exported.
    pub records: bool,
    /// Whether it is also measured over a connection.
    pub connected: bool,
    /// The limits over no layer: the ratio of processor time, and the additional instructions.
    pub targets: (Option<f64>, Option<f64>),
}

impl Variant {
    const fn new(
        name: &'static str,
        traceparent: Option<&'static str>,
        start: fn() -> Started,
        (serve, direct): (Serve, Direct),
    ) -> Self {
        Variant { name, traceparent, start, serve, direct, records: false, connected: true, targets: (None, None) }
    }

    const fn records(mut self) -> Self {
        self.records = true;
        self
    }

    /// Without a network only: the difference is too small for processor time.
    const fn direct_only(mut self) -> Self {
        self.connected = false;
        self
    }

    const fn target(mut self, ratio: Option<f64>, instructions: f64) -> Self {
        self.targets = (ratio, Some(instructions));
        self
    }
}

/// Around a whole server, and around a service that is called directly.
macro_rules! layer {
    ($layer:expr) => {
        (
            |incoming| Box::pin(Server::builder().layer($layer).add_service(Echo).serve_with_incoming(incoming)),
            |traceparent, calls| direct::call(&mut $layer.layer(Trivial(1)), traceparent, calls),
        )
    };
}

/// Around a service that is called directly.
macro_rules! by_hand {
    () => {
        (
            |_| unreachable!("it is measured without a network only"),
            |traceparent, calls| direct::call(&mut Floor(Grpc).layer(Trivial(1)), traceparent, calls),
        )
    };
}

pub const NONE: &str = "no layer";
pub const NONE_ROOT: &str = "no layer, no traceparent";
pub const SAMPLED_NAME: &str = "tracecast, sampled, with metrics";
pub const UNSAMPLED_NAME: &str = "tracecast, unsampled, with metrics";
pub const OFF_BELOW_NAME: &str = "tracecast, off";
pub const OFF_NAME: &str = "tracecast, off, no traceparent";

/// The nearest peer.
pub const PEER: &str = "fastrace-tonic";

pub const VARIANTS: &[Variant] = &[
    Variant::new(NONE, SAMPLED, nothing, layer!(Identity::new())),
    Variant::new(NONE_ROOT, None, nothing, layer!(Identity::new())).direct_only(),
    Variant::new(SAMPLED_NAME, SAMPLED, ours, layer!(GrpcServerLayer::new())).records().target(Some(1.08), 3_500.0),
    Variant::new("tracecast, sampled root, with metrics", None, ours, layer!(GrpcServerLayer::new()))
        .records()
        .direct_only()
        .target(None, 3_500.0),
    Variant::new("tracecast, sampled, no metrics", SAMPLED, our_spans, layer!(GrpcServerLayer::new()))
        .records()
        .direct_only(),
    Variant::new(UNSAMPLED_NAME, UNSAMPLED, ours, layer!(GrpcServerLayer::new())).target(None, 1_500.0),
    Variant::new("tracecast, unsampled, no metrics", UNSAMPLED, our_spans, layer!(GrpcServerLayer::new()))
        .direct_only()
        .target(None, 1_000.0),
    Variant::new(OFF_BELOW_NAME, SAMPLED, nothing, layer!(GrpcServerLayer::new())).target(None, 700.0),
    Variant::new(OFF_NAME, None, nothing, layer!(GrpcServerLayer::new())).direct_only().target(None, 150.0),
    Variant::new("by hand, sampled, with metrics", SAMPLED, by_hand::both, by_hand!()).direct_only(),
    Variant::new("by hand, sampled root, with metrics", None, by_hand::both, by_hand!()).direct_only(),
    Variant::new("by hand, unsampled, with metrics", UNSAMPLED, by_hand::both, by_hand!()).direct_only(),
    Variant::new("by hand, unsampled, no metrics", UNSAMPLED, by_hand::spans, by_hand!()).direct_only(),
    Variant::new("by hand, off", SAMPLED, nothing, by_hand!()).direct_only(),
    Variant::new("by hand, off, no traceparent", None, nothing, by_hand!()).direct_only(),
    // It records spans if there is a subscriber, and its documentation shows this constructor for gRPC.
    Variant::new("tower-http TraceLayer, no subscriber", SAMPLED, nothing, layer!(TraceLayer::new_for_grpc())),
    Variant::new("tower-http TraceLayer, tracing-opentelemetry", SAMPLED, tracing, layer!(TraceLayer::new_for_grpc()))
        .records(),
    Variant::new("tonic-tracing-opentelemetry, sampled", SAMPLED, tracing, layer!(OtelGrpcLayer::default())).records(),
    Variant::new("tonic-tracing-opentelemetry, unsampled", UNSAMPLED, tracing, layer!(OtelGrpcLayer::default())),
    // It records neither status nor attributes.
    Variant::new(PEER, SAMPLED, fastrace, layer!(FastraceServerLayer::default())).records(),
    // Its spans and metrics are HTTP's: it does not read gRPC statuses.
    Variant::new("opentelemetry-instrumentation-tower, with metrics", SAMPLED, sdk, layer!(OtelTowerLayer::new()))
        .records(),
];

pub fn nothing() -> Started {
    Box::new(())
}

/// Spans and metrics, and a thread that encodes them as OTLP, as the export thread does.
pub fn ours() -> Started {
    Box::new((our_spans(), peers::tracecast::metering()))
}

pub fn our_spans() -> Started {
    Box::new(peers::tracecast::recording())
}

fn tracing() -> Started {
    let provider = peers::sdk::spans();
    peers::tracing::install(&provider);
    Box::new(provider)
}

pub fn fastrace() -> Started {
    peers::fastrace::install();
    Box::new(())
}

pub fn sdk() -> Started {
    Box::new((peers::sdk::spans(), peers::sdk::metrics()))
}
