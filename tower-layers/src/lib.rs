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
//! A span is named `Service/Method` and lasts until the status is known: for a stream that is its end. What is current
//! inside of a handler, and while its response is streamed, is the server's span. Where nothing is recorded, the caller's
//! context goes on to whoever is called next all the same.
//!
//! | attribute | |
//! |---|---|
//! | `rpc.system` | `grpc` |
//! | `rpc.service`, `rpc.method` | the full name of the service, the method |
//! | `rpc.grpc.status_code` | the status, also where none was sent: a deadline that passed, a caller that hung up |
//! | `error.type`, `error.message` | the name of the status and its message, if it is an error on this side |
//! | `tc.rpc.request.messages`, `tc.rpc.request.bytes` | messages that were sent, on the server those that were read |
//! | `tc.rpc.response.messages`, `tc.rpc.response.bytes` | the same of the response |
//! | `server.address`, `server.port` | who is called, as the request says, or the client [was told](GrpcClientLayer::with_server) |
//! | `network.peer.address`, `network.peer.port` | who called, on the server |
//! | `tc.rpc.segment` | which part of a stream that [rolled over](GrpcServerLayer::with_max_span_duration) |
//!
//! With `OTEL_SEMCONV_STABILITY_OPT_IN=rpc` they are `rpc.system.name`, `rpc.method` with its service as
//! `store.v1.Store/Get`, and `rpc.response.status_code` with the name of the status; with `rpc/dup` both are there, and
//! `rpc.method` is the new one.
//!
//! On the server an error is `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE` or `DATA_LOSS`; on the
//! client it is every status but `OK`. A call whose caller hung up is `CANCELLED`: on the server its outcome is `cancelled`,
//! which is no error; on the client, where its future or stream was dropped, it is an error with `tc.outcome=cancelled`.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_rpc_server_duration_seconds`, `tc_rpc_client_duration_seconds` | `rpc.service`, `rpc.method`, `rpc.grpc.status_code` |
//! | `rpc.server.call.duration`, `rpc.client.call.duration` instead, or with `rpc/dup` besides | `rpc.system.name`, `rpc.method`, `rpc.response.status_code` |
//! | `tc_rpc_{server,client}_{request,response}_{messages,bytes}_total` | `rpc.service`, `rpc.method` |
//! | `tc_rpc_server_active` | |
//!
//! They count all calls that are traced, whether or not they are sampled, when they end; the messages of a stream that rolls
//! over also meanwhile. A caller cannot add to the methods: one is known when it has answered `OK`, or was told at the start,
//! [by its path](GrpcServerLayer::with_methods) or [by a descriptor set](GrpcServerLayer::with_descriptor_set); up to 63
//! are, and all others are `_OTHER`.
//!
//! Callers are trusted unless a [policy](GrpcServerLayer::with_trust) says otherwise. [`MessageSpans`] gives single messages
//! spans of their own.
//!
//! What tonic makes of a response is above the client's layer: one that cannot be decoded, or is too large, was given up here, and
//! its span is `CANCELLED` whatever the caller is told.
//!
//! Both layers take and give `tonic::body::Body`, so that they stand beside any other layer, outside or inside of it. Only one
//! that makes another protocol of gRPC, as that for gRPC-Web, has to be outside.
//!
//! What is said here is about gRPC; that of the layers for HTTP, `HttpServerLayer` and `HttpClientLayer`, is in the module `http`.
//!
//! # Features
//! - `http` (on by default): the layers for HTTP.
//! - `axum`: routes and peers as axum knows them, for the layers for HTTP.
//! - `hyper`: errors of hyper, its client and tower are looked into, for `error.type` on HTTP spans.
//! - `transport` (on by default): tonic's own transport, for [`TracedChannel`] and the peer's address.
//!
// Where the feature is off, the link leads to the documentation that has the item.
#![cfg_attr(
    not(feature = "transport"),
    doc = "[`TracedChannel`]: https://docs.rs/tracecast-tower/latest/tracecast_tower/type.TracedChannel.html"
)]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod alarm;
mod baggage;
mod deadline;
mod ends;
mod failed;
mod filter;
#[cfg(test)]
#[path = "../../runtime/src/base/fuzz/driver.rs"]
mod fuzz;
mod grpc;
mod headers;
mod hosts;
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub mod http;
mod learnt;
mod origin;
mod place;
mod response;
mod side;
mod trace_layer;
mod trust;
mod work;

pub use crate::grpc::client::{GrpcClient, GrpcClientLayer};
pub use crate::grpc::descriptor::DescriptorError;
pub use crate::grpc::keys;
pub use crate::grpc::message_stream::{MessageSpans, TracedMessages};
pub use crate::grpc::response::ResponseFuture;
pub use crate::grpc::server::{GrpcServer, GrpcServerLayer};
pub use crate::headers::{HttpHeaders, HttpHeadersMut};
#[cfg(feature = "http")]
pub use crate::http::{HttpClient, HttpClientLayer, HttpServer, HttpServerLayer};
pub use crate::trust::Peer;

/// The layers' types, which both protocols and both sides of a call share.
///
/// [`GrpcServerLayer`], [`GrpcClientLayer`] and those of HTTP are [`TraceLayer`](layer::TraceLayer)s, and the services that they
/// make are [`Traced`](layer::Traced). Methods of these types are for all layers, all servers or all clients, or for one protocol.
pub mod layer {
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
#[cfg(all(doctest, feature = "axum", feature = "hyper"))]
mod book {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../book/src/grpc-http.md")]
    struct GrpcAndHttp;
}
