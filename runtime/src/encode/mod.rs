//! What is sent, made from what was recorded: OTLP requests, and the views that change metrics before.
//!
//! Bytes are written straight from records, points and entries: no messages in between, no generated code. Encoding a span
//! allocates nothing. It uses the rooms that hold the data; `interop` and `export` use it.

pub(crate) mod attribute;
pub(crate) mod finished;
pub(crate) mod json;
mod labels;
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
pub(crate) mod logs;
pub(crate) mod message;
pub(crate) mod metrics;
mod protobuf;
pub(crate) mod resource;
pub(crate) mod span;
pub(crate) mod trace;
pub(crate) mod views;
pub(crate) mod wire;
