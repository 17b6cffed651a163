//! Layers for gRPC (tonic) and HTTP: a span per call with its actual outcome, however the call ends, and context
//! propagation.
//!
//! ```no_run
//! use tonic::transport::{Channel, Server};
//! use tower_layer::Layer;
//! use tracecast_tower::{GrpcClientLayer, GrpcServerLayer, TracedChannel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder().layer(GrpcServerLayer::new());
//!
//! let channel: Channel = Channel::from_static("http://[::1]:50051").connect_lazy();
//! let channel: TracedChannel = GrpcClientLayer::new().layer(channel); // `StoreClient::new(channel)`
//! # Ok(())
//! # }
//! ```
//!
//! The modules `grpc` and `http` list the attributes and metrics of each protocol. Callers are trusted unless [a
//! policy](layer::TraceLayer::with_trust) rejects them.
//!
//! # Features
//! - `grpc` (on by default): the layers for gRPC. Their public items use tonic's types; without this feature tonic is
//!   not a dependency.
//! - `transport` (on by default): tonic's own transport, for `TracedChannel` and the peer's address. It includes `grpc`.
//! - `http` (on by default): the layers for HTTP.
//! - `axum`: routes and peers from axum, for the HTTP layers.
//! - `hyper`: `error.type` on HTTP spans from errors of hyper, its client and tower.
//! - `reqwest`: `HttpClientLayer` as `reqwest-middleware` for reqwest clients. It includes `hyper`.
//!
//! A program that only needs HTTP depends on this crate with `default-features = false, features = ["http"]`.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(any(feature = "grpc", feature = "http")),
    expect(dead_code, reason = "the layers use what they share; without a protocol there are none")
)]

mod baggage;
mod ends;
mod failed;
mod filter;
mod first_byte;
#[cfg(test)]
#[path = "../../runtime/src/base/fuzz/driver.rs"]
mod fuzz;
#[cfg(feature = "grpc")]
#[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
pub mod grpc;
mod headers;
mod hosts;
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub mod http;
mod learnt;
mod origin;
mod place;
mod response;
mod sealed;
mod sets;
mod side;
mod timeout;
mod trace_layer;
mod trust;
mod work;

#[cfg(feature = "grpc")]
pub use crate::grpc::{
    DescriptorError, GrpcClient, GrpcClientLayer, GrpcServer, GrpcServerLayer, MessageSpans, ResponseFuture,
    StreamSpans, TracedMessages, keys,
};
pub use crate::headers::{HttpHeaders, HttpHeadersMut};
#[cfg(feature = "http")]
pub use crate::http::{HttpClient, HttpClientLayer, HttpServer, HttpServerLayer};
pub use crate::trust::Peer;

/// The types behind the layers, which both protocols and both sides share.
///
/// `GrpcServerLayer`, `GrpcClientLayer`, `HttpServerLayer` and `HttpClientLayer` are
/// [`TraceLayer`](layer::TraceLayer)s; the services that they return are [`Traced`](layer::Traced). Some methods exist
/// on all layers, others on all server or all client layers, or on those of one protocol.
pub mod layer {
    #[cfg(feature = "grpc")]
    pub use crate::grpc::settings::GrpcCalls;
    #[cfg(feature = "http")]
    pub use crate::http::settings::HttpRequests;
    pub use crate::response::{ResponseBody, ResponseFuture};
    pub use crate::trace_layer::{ClientSide, LayerSide, ServerSide, TraceLayer, Traced};
    pub use crate::work::Protocol;
}

/// A tonic channel with a span per call.
///
/// ```no_run
/// use tonic::transport::Channel;
/// use tower_layer::Layer as _;
/// use tracecast_tower::{GrpcClientLayer, TracedChannel};
///
/// fn channel() -> TracedChannel {
///     GrpcClientLayer::new().layer(Channel::from_static("http://[::1]:50051").connect_lazy())
/// }
/// ```
#[cfg(feature = "transport")]
#[cfg_attr(docsrs, doc(cfg(feature = "transport")))]
pub type TracedChannel = GrpcClient<tonic::transport::Channel>;

/// Compiles and runs the Rust code of the readme and the book as doc tests.
#[cfg(all(doctest, feature = "axum", feature = "reqwest"))]
mod book {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../book/src/grpc-http.md")]
    struct GrpcAndHttp;
}
