//! Encodes recorded data as OTLP requests, and applies views to metrics.
//!
//! Encoders write bytes directly from records, points and log records, without intermediate messages or generated code.
//! Encoding a recorded span allocates nothing once the buffers have grown. This module uses the modules that hold the data;
//! `interop` and `export` use this module.

pub(crate) mod attribute;
pub(crate) mod finished;
pub(crate) mod json;
mod labels;
#[cfg(has_logs)]
pub(crate) mod logs;
pub(crate) mod message;
pub(crate) mod metrics;
mod protobuf;
pub(crate) mod resource;
pub(crate) mod span;
pub(crate) mod trace;
pub(crate) mod views;
pub(crate) mod wire;
