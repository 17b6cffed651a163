//! Layers for gRPC servers and clients built with tonic.
//!
//! A span is named `Service/Method` and lasts until the status is known; a stream's span lasts until the stream ends.
//! The server's span is current in the handler and while the response is streamed. The caller's context is passed on to
//! the next service even where nothing is recorded.
//!
//! | attribute | |
//! |---|---|
//! | `rpc.system` | `grpc` |
//! | `rpc.service`, `rpc.method` | the full name of the service, the method |
//! | `rpc.grpc.status_code` | the status, also if none was sent: after a deadline, or when the caller hung up |
//! | `error.type`, `error.message` | the name and message of a status that is an error on this side |
//! | `tc.rpc.request.messages`, `tc.rpc.request.bytes` | messages that a client sent or a server's handler read, and their bytes |
//! | `tc.rpc.response.messages`, `tc.rpc.response.bytes` | messages that a server sent or a client read, and their bytes |
//! | `server.address`, `server.port` | the server that the request names, or the one [given](GrpcClientLayer::with_server) to the client's layer |
//! | `network.peer.address`, `network.peer.port` | the caller's address, on the server |
//! | `tc.response.first_byte_seconds` | if [enabled](GrpcServerLayer::with_first_byte): the time to the first byte of the response |
//! | `tc.rpc.segment` | the number of this span, where a stream has [several](GrpcServerLayer::with_max_span_duration) |
//!
//! With `OTEL_SEMCONV_STABILITY_OPT_IN=rpc` the first three rows become `rpc.system.name`, `rpc.method` with its
//! service, as in `store.v1.Store/Get`, and `rpc.status_code` with the name of the status. With `rpc/dup` a span has
//! both sets, and `rpc.method` has the new form.
//!
//! On the server these statuses are errors: `UNKNOWN`, `DEADLINE_EXCEEDED`, `UNIMPLEMENTED`, `INTERNAL`, `UNAVAILABLE`
//! and `DATA_LOSS`. On the client every status but `OK` is. A call whose caller hung up is `CANCELLED`: on the server
//! its outcome is `cancelled`, which is no error; on the client, where its future or stream was dropped, it is an error
//! with `tc.outcome=cancelled`.
//!
//! | metric | labels |
//! |---|---|
//! | `tc_rpc_server_duration_seconds`, `tc_rpc_client_duration_seconds` | `rpc.service`, `rpc.method`, `rpc.grpc.status_code` |
//! | `rpc.server.call.duration`, which replaces `tc_rpc_server_duration_seconds` with `rpc` and is added with `rpc/dup` | `rpc.system.name`, `rpc.method`, `rpc.status_code`, `error.type` |
//! | `rpc.client.call.duration`, which replaces `tc_rpc_client_duration_seconds` with `rpc` and is added with `rpc/dup` | `rpc.system.name`, `rpc.method`, `rpc.status_code`, `error.type`, `server.address`, `server.port` |
//! | `tc_rpc_{server,client}_{request,response}_{messages,bytes}_total` | `rpc.service`, `rpc.method` |
//! | `tc_rpc_{server,client}_first_byte_seconds`, if [enabled](GrpcServerLayer::with_first_byte) | `rpc.service`, `rpc.method` |
//! | `tc_rpc_server_active` | |
//!
//! The metrics count all traced calls, sampled or not, when they end; the messages of a stream that rolls over are also
//! counted at each new span.
//!
//! A caller cannot add values to a label. A method has a label of its own after it answered `OK`, or if it was given at the
//! start, [by its path](GrpcServerLayer::with_methods) or [by a descriptor set](GrpcServerLayer::with_descriptor_set). There are up to 63 such
//! methods; all others are `_OTHER`. A server is `_OTHER` too until it has answered, unless it was [given](GrpcClientLayer::with_server)
//! to the layer; up to 256 servers are known. `rpc.client.call.duration` keeps up to 1,024 combinations of its labels; further ones
//! are counted as one, with `otel.metric.overflow`.
//!
//! Callers are trusted unless a [policy](GrpcServerLayer::with_trust) rejects them. [`MessageSpans`] gives single
//! messages spans of their own.
//!
//! tonic decodes a response above the client's layer. If a response is too large or cannot be decoded, tonic drops it,
//! and the span is `CANCELLED` whatever status tonic returns to the caller.
//! Both layers take and return `tonic::body::Body`, so they can be placed outside or inside any other layer. Only a
//! layer that translates gRPC into another protocol, such as gRPC-Web, must be outside.

// `start` opens a call's span, `call` holds it, `response` and `request` watch the bodies, `status` determines the
// final status; `method`, `label` and `metrics` bound the labels. Code shared with HTTP is beside this folder: neither
// protocol uses the other.

mod alarm;
pub(crate) mod call;
pub(crate) mod client;
mod conventions;
mod deadline;
pub(crate) mod descriptor;
mod durations;
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
