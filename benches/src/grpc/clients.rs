//! The client layers, each around a service that is called without a network, below a caller's span.

use std::any::Any;

use fastrace::prelude::{Span as FastraceSpan, SpanContext};
use fastrace_tonic::FastraceClientLayer;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tonic_tracing_opentelemetry::middleware::client::OtelGrpcLayer;
use tower_layer::{Identity, Layer};
use tracecast::{Context, SpanId, TraceId};
use tracecast_tower::GrpcClientLayer;

use super::case::Case;
use super::direct::{self, Trivial};
use super::variants::{Started, fastrace, nothing, our_spans, ours};
use crate::peers;

macro_rules! layer {
    ($layer:expr) => {
        |calls| direct::call_out(&mut $layer.layer(Trivial(1)), calls)
    };
}

pub const NONE: &str = "client: no layer";
pub const SAMPLED_NAME: &str = "client: tracecast, sampled, with metrics";
pub const OFF_NAME: &str = "client: tracecast, off";

pub const CASES: &[Case] = &[
    Case::new(NONE, NONE, nothing, layer!(Identity::new())),
    Case::new(SAMPLED_NAME, NONE, || below(ours(), true), layer!(GrpcClientLayer::new())).records(10),
    Case::new("client: tracecast, sampled root, with metrics", NONE, ours, layer!(GrpcClientLayer::new())).records(10),
    Case::new(
        "client: tracecast, sampled, no metrics",
        NONE,
        || below(our_spans(), true),
        layer!(GrpcClientLayer::new()),
    )
    .records(10),
    Case::new(
        "client: tracecast, unsampled, with metrics",
        NONE,
        || below(ours(), false),
        layer!(GrpcClientLayer::new()),
    ),
    Case::new(
        "client: tracecast, unsampled, no metrics",
        NONE,
        || below(our_spans(), false),
        layer!(GrpcClientLayer::new()),
    ),
    // The incoming context is sent on.
    Case::new("client: tracecast, off, below a caller", NONE, passing_on, layer!(GrpcClientLayer::new())),
    Case::new(OFF_NAME, NONE, nothing, layer!(GrpcClientLayer::new())),
    Case::new(
        "client: tonic-tracing-opentelemetry, sampled",
        NONE,
        || below_tracing(peers::sdk::spans()),
        layer!(OtelGrpcLayer),
    )
    .records(10),
    Case::new(
        "client: tonic-tracing-opentelemetry, unsampled",
        NONE,
        || below_tracing(peers::sdk::unsampled_spans()),
        layer!(OtelGrpcLayer),
    ),
    // It records no span and only writes the header.
    Case::new("client: fastrace-tonic", NONE, below_fastrace, layer!(FastraceClientLayer)),
];

/// Runs below the span of another process, which is current during the calls.
pub fn below(started: Started, sampled: bool) -> Started {
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

pub fn below_fastrace() -> Started {
    let started = fastrace();
    let span = FastraceSpan::root("caller", SpanContext::random());
    let parent: Box<dyn Any> = Box::new(span.set_local_parent());
    Box::new((parent, span, started))
}
