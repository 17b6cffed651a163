//! Layers for gRPC with tonic and for HTTP: a span for each call that is right in every ending, and context from process to
//! process.
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
//! The modules `grpc` and `http` list the attributes and metrics of each protocol. Callers are trusted unless
//! [a policy](layer::TraceLayer::with_trust) says otherwise.
//!
//! # Features
//! - `grpc` (on by default): the layers for gRPC. Their public items have types of tonic; without this feature tonic is not built.
//! - `transport` (on by default): tonic's own transport, for `TracedChannel` and the peer's address. It includes `grpc`.
//! - `http` (on by default): the layers for HTTP.
//! - `axum`: routes and peers as axum knows them, for the layers for HTTP.
//! - `hyper`: errors of hyper, its client and tower are looked into, for `error.type` on HTTP spans.
//! - `reqwest`: `HttpClientLayer` as middleware for clients of reqwest, by `reqwest-middleware`. It includes `hyper`.
//!
//! A program that only needs HTTP depends on it with `default-features = false, features = ["http"]`.
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

/// The layers' types, which both protocols and both sides of a call share.
///
/// `GrpcServerLayer`, `GrpcClientLayer`, `HttpServerLayer` and `HttpClientLayer` are [`TraceLayer`](layer::TraceLayer)s, and the services that they
/// make are [`Traced`](layer::Traced). Methods of these types are for all layers, all servers or all clients, or for one protocol.
pub mod layer {
    #[cfg(feature = "grpc")]
    pub use crate::grpc::settings::GrpcCalls;
    #[cfg(feature = "http")]
    pub use crate::http::settings::HttpRequests;
    pub use crate::response::{ResponseBody, ResponseFuture};
    pub use crate::trace_layer::{ClientSide, LayerSide, ServerSide, TraceLayer, Traced};
    pub use crate::work::Protocol;
}

/// A channel whose calls are spans.
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

/// The Rust code of the book and of the readme is compiled and run with the documentation's.
#[cfg(all(doctest, feature = "axum", feature = "reqwest"))]
mod book {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../book/src/grpc-http.md")]
    struct GrpcAndHttp;
}
