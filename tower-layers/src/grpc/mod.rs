//! Layers for gRPC, for servers and clients of tonic.
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
//! | `tc.response.first_byte_seconds` | if it is [asked for](GrpcServerLayer::with_first_byte): the time to the first byte of the response |
//! | `tc.rpc.segment` | which part of a stream that [rolled over](GrpcServerLayer::with_max_span_duration) |
//!
//! With `OTEL_SEMCONV_STABILITY_OPT_IN=rpc` they are `rpc.system.name`, `rpc.method` with its service as
//! `store.v1.Store/Get`, and `rpc.status_code` with the name of the status; with `rpc/dup` both are there, and
//! `rpc.method` is the new one.
//!
//! On the server an error is `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE` or `DATA_LOSS`; on the
//! client it is every status but `OK`. A call whose caller hung up is `CANCELLED`: on the server its outcome is `cancelled`,
//! which is no error; on the client, where its future or stream was dropped, it is an error with `tc.outcome=cancelled`.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_rpc_server_duration_seconds`, `tc_rpc_client_duration_seconds` | `rpc.service`, `rpc.method`, `rpc.grpc.status_code` |
//! | `rpc.server.call.duration` instead, or with `rpc/dup` besides | `rpc.system.name`, `rpc.method`, `rpc.status_code`, `error.type` |
//! | `rpc.client.call.duration` likewise | the same, and `server.address`, `server.port` |
//! | `tc_rpc_{server,client}_{request,response}_{messages,bytes}_total` | `rpc.service`, `rpc.method` |
//! | `tc_rpc_{server,client}_first_byte_seconds`, if they are [asked for](GrpcServerLayer::with_first_byte) | `rpc.service`, `rpc.method` |
//! | `tc_rpc_server_active` | |
//!
//! They count all calls that are traced, whether or not they are sampled, when they end; the messages of a stream that rolls
//! over also meanwhile. A caller cannot add to the methods: one is known when it has answered `OK`, or was told at the start,
//! [by its path](GrpcServerLayer::with_methods) or [by a descriptor set](GrpcServerLayer::with_descriptor_set); up to 63
//! are, and all others are `_OTHER`. So is a server that has never answered, unless the layer [was told](GrpcClientLayer::with_server) of it: up to
//! 256 are known. Of all that the labels of `rpc.client.call.duration` could make together, 1,024 sets are kept; the rest is counted as
//! one, with `otel.metric.overflow`.
//!
//! Callers are trusted unless a [policy](GrpcServerLayer::with_trust) says otherwise. [`MessageSpans`] gives single messages
//! spans of their own.
//!
//! What tonic makes of a response is above the client's layer: one that cannot be decoded, or is too large, was given up here, and
//! its span is `CANCELLED` whatever the caller is told.
//!
//! Both layers take and give `tonic::body::Body`, so that they stand beside any other layer, outside or inside of it. Only one
//! that makes another protocol of gRPC, as that for gRPC-Web, has to be outside.

// `start` opens a call's span, `call` holds it, `response` and `request` watch the bodies, `status` decides how it ended;
// `method`, `label` and `metrics` keep labels closed. What HTTP has in common with it is beside this folder: neither protocol uses
// the other.

mod alarm;
pub(crate) mod call;
pub(crate) mod client;
mod conventions;
mod deadline;
pub(crate) mod descriptor;
pub mod keys;
pub(crate) mod label;
pub(crate) mod message_stream;
pub(crate) mod messages;
mod metadata;
pub(crate) mod method;
pub(crate) mod metrics;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod segment;
pub(crate) mod server;
mod servers;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod status;

pub use self::client::{GrpcClient, GrpcClientLayer};
pub use self::descriptor::DescriptorError;
pub use self::message_stream::{MessageSpans, StreamSpans, TracedMessages};
pub use self::response::ResponseFuture;
pub use self::server::{GrpcServer, GrpcServerLayer};
