//! Layers for gRPC, for servers and clients of tonic.
//!
//! A call is a span from its first byte to its trailers. `start` opens it, `call` holds it, `response` and `request` watch the
//! bodies, `status` decides how it ended; `method`, `label` and `metrics` keep labels closed. What HTTP has in common with it
//! is beside this folder: neither protocol uses the other.

pub(crate) mod call;
pub(crate) mod client;
pub(crate) mod descriptor;
pub mod keys;
pub(crate) mod label;
pub(crate) mod message_stream;
pub(crate) mod messages;
pub(crate) mod method;
pub(crate) mod metrics;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod segment;
pub(crate) mod server;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod status;
