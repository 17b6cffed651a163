//! The layers of clients, each around a service that is called without a network, below a span of whoever calls.

use std::any::Any;

use fastrace::prelude::{Span as FastraceSpan, SpanContext};
use fastrace_tonic::FastraceClientLayer;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tonic_tracing_opentelemetry::middleware::client::OtelGrpcLayer;
use tower_layer::{Identity, Layer};
use tracecast::{Context, SpanId, TraceId};
use tracecast_tower::GrpcClientLayer;

use super::direct::{self, Trivial};
use super::variants::{Started, fastrace, nothing, our_spans, ours};
use crate::peers;

/// A client's layer around the same service.
pub struct Client {
    pub name: &'static str,
    /// Also says what is current while it is called.
    pub start: fn() -> Started,
    /// Calls it so many times.
    pub direct: fn(u64),
    /// Whether each call is a span that is exported.
    pub records: bool,
}

impl Client {
    const fn new(name: &'static str, start: fn() -> Started, direct: fn(u64)) -> Self {
        Client { name, start, direct, records: false }
    }

    const fn records(mut self) -> Self {
        self.records = true;
        self
    }
}

macro_rules! layer {
    ($layer:expr) => {
        |calls| direct::call_out(&mut $layer.layer(Trivial), calls)
    };
}

pub const NONE: &str = "client: no layer";
pub const SAMPLED_NAME: &str = "client: tracecast, sampled, with metrics";
pub const OFF_NAME: &str = "client: tracecast, off";

pub const CLIENTS: &[Client] = &[
    Client::new(NONE, nothing, layer!(Identity::new())),
    Client::new(SAMPLED_NAME, || below(ours(), true), layer!(GrpcClientLayer::new())).records(),
    Client::new("client: tracecast, sampled root, with metrics", ours, layer!(GrpcClientLayer::new())).records(),
    Client::new("client: tracecast, sampled, no metrics", || below(our_spans(), true), layer!(GrpcClientLayer::new()))
        .records(),
    Client::new("client: tracecast, unsampled, with metrics", || below(ours(), false), layer!(GrpcClientLayer::new())),
    Client::new(
        "client: tracecast, unsampled, no metrics",
        || below(our_spans(), false),
        layer!(GrpcClientLayer::new()),
    ),
    // What came with a request goes on.
    Client::new("client: tracecast, off, below a caller", passing_on, layer!(GrpcClientLayer::new())),
    Client::new(OFF_NAME, nothing, layer!(GrpcClientLayer::new())),
    Client::new(
        "client: tonic-tracing-opentelemetry, sampled",
        || below_tracing(peers::sdk::spans()),
        layer!(OtelGrpcLayer),
    )
    .records(),
    Client::new(
        "client: tonic-tracing-opentelemetry, unsampled",
        || below_tracing(peers::sdk::unsampled_spans()),
        layer!(OtelGrpcLayer),
    ),
    // It makes no span: it writes the header alone.
    Client::new("client: fastrace-tonic", below_fastrace, layer!(FastraceClientLayer)),
];

/// Below the span of another process, which has to be current for as long as calls are made.
fn below(started: Started, sampled: bool) -> Started {
    let caller = Context::remote(TraceId(0x4bf9_2f35_77b3_4da6), SpanId(0x00f0_67aa_0ba9_02b7), sampled);
    Box::new((caller.attach(), started))
}

fn passing_on() -> Started {
    below(nothing(), true)
}

fn below_tracing(provider: SdkTracerProvider) -> Started {
    peers::tracing::install(&provider);
    Box::new((tracing::info_span!("caller").entered(), provider))
}

fn below_fastrace() -> Started {
    let started = fastrace();
    let span = FastraceSpan::root("caller", SpanContext::random());
    let parent: Box<dyn Any> = Box::new(span.set_local_parent());
    Box::new((parent, span, started))
}
