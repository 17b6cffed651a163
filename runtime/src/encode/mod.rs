//! OTLP requests, written straight from our own data: no messages in between, no generated code.

pub(crate) mod attribute;
pub(crate) mod json;
mod labels;
pub(crate) mod metrics;
pub(crate) mod resource;
mod span;
pub(crate) mod trace;
mod wire;
