//! Layers for gRPC with tonic: a span for each call that is right in every ending, and context from process to process.
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
//! | `network.peer.address`, `network.peer.port` | who called, on the server |
//!
//! On the server an error is `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE` or `DATA_LOSS`; on the
//! client it is every status but `OK`. A call that its own side gave up is `cancelled`.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_rpc_server_duration_seconds`, `tc_rpc_client_duration_seconds` | `rpc.method` (with its service, as `store.v1.Store/Get`), `rpc.grpc.status_code` |
//! | `tc_rpc_server_active` | |
//!
//! They count all calls that are traced, whether or not they are sampled. A caller cannot add to the methods: one is known
//! when it has answered `OK`, or was [told](GrpcServerLayer::with_methods) at the start; up to 63 are, and all others are
//! `_OTHER`.
//!
//! Both layers take and give `tonic::body::Body`, so that they stand beside any other layer, outside or inside of it.
//!
//! # Features
//! - `transport` (on by default): tonic's own transport, for [`TracedChannel`] and the peer's address.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod call;
mod client;
mod deadline;
mod headers;
pub mod keys;
mod label;
mod messages;
mod method;
mod metrics;
mod request;
mod response;
mod server;
mod settings;
mod status;

pub use crate::client::{GrpcClient, GrpcClientLayer};
pub use crate::headers::{HttpHeaders, HttpHeadersMut};
pub use crate::response::ResponseFuture;
pub use crate::server::{GrpcServer, GrpcServerLayer};

/// A channel whose calls are spans.
#[cfg(feature = "transport")]
#[cfg_attr(docsrs, doc(cfg(feature = "transport")))]
pub type TracedChannel = GrpcClient<tonic::transport::Channel>;
