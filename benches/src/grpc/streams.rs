//! Streams without a network: the cost that a layer adds per message.

use fastrace_tonic::{FastraceClientLayer, FastraceServerLayer};
use tower_layer::{Identity, Layer};
use tracecast_tower::{GrpcClientLayer, GrpcServerLayer};

use super::case::Case;
use super::clients::{below, below_fastrace};
use super::direct::{self, Trivial};
use super::variants::{SAMPLED, fastrace, nothing, ours};

/// One call with one request message and as many response messages as requested.
macro_rules! responses {
    ($traceparent:expr, $layer:expr) => {
        |messages| direct::stream(&mut $layer.layer(Trivial(messages)), $traceparent, 1)
    };
}

/// One call with many request messages and one response message.
macro_rules! requests {
    ($traceparent:expr, $layer:expr) => {
        |messages| direct::stream(&mut $layer.layer(Trivial(1)), $traceparent, messages)
    };
}

const RESPONSES: &str = "gRPC stream, no layer: each response";
const REQUESTS: &str = "gRPC stream, no layer: each request";

// These layers ignore bodies: their spans end with the headers.
const SERVER_PEER: &str = "gRPC stream, server: fastrace-tonic, each response";
const CLIENT_PEER: &str = "gRPC stream, client: fastrace-tonic, each response";

pub const CASES: &[Case] = &[
    Case::new(RESPONSES, RESPONSES, nothing, responses!(SAMPLED, Identity::new())),
    Case::new(REQUESTS, REQUESTS, nothing, requests!(SAMPLED, Identity::new())),
    Case::new(
        "gRPC stream, server: tracecast, each response",
        RESPONSES,
        ours,
        responses!(SAMPLED, GrpcServerLayer::new()),
    )
    .records(1)
    .target(150.0, SERVER_PEER),
    Case::new(
        "gRPC stream, server: tracecast, each request",
        REQUESTS,
        ours,
        requests!(SAMPLED, GrpcServerLayer::new()),
    )
    .records(1)
    .target(150.0, SERVER_PEER),
    Case::new(
        "gRPC stream, client: tracecast, each response",
        RESPONSES,
        sampled,
        responses!(None, GrpcClientLayer::new()),
    )
    .records(1)
    .target(150.0, CLIENT_PEER),
    Case::new(
        "gRPC stream, client: tracecast, each request",
        REQUESTS,
        sampled,
        requests!(None, GrpcClientLayer::new()),
    )
    .records(1)
    .target(150.0, CLIENT_PEER),
    Case::new(SERVER_PEER, RESPONSES, fastrace, responses!(SAMPLED, FastraceServerLayer::default())).records(1),
    Case::new(CLIENT_PEER, RESPONSES, below_fastrace, responses!(None, FastraceClientLayer)),
];

fn sampled() -> super::variants::Started {
    below(ours(), true)
}
