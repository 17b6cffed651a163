//! OTLP requests, written straight from our own data: no messages in between, no generated code.

pub(crate) mod attribute;
pub(crate) mod foreign;
pub(crate) mod json;
mod labels;
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod resource;
pub(crate) mod span;
pub(crate) mod trace;
mod wire;
