//! The public span API: annotated functions, scopes, futures, streams, manual spans, the current span and contexts.
//!
//! Each span owns at most one block of `record` and returns it when it ends, also if it ends by a panic. User code never runs
//! while a block is half written. `meter` measures calls in the same wrappers.

pub(crate) mod arrivals;
pub(crate) mod builder;
pub(crate) mod context;
pub(crate) mod covered;
pub(crate) mod current;
pub(crate) mod error;
#[cfg(has_otlp)]
pub(crate) mod external;
pub(crate) mod fork;
pub(crate) mod future;
pub(crate) mod known_error;
pub(crate) mod metrics;
pub(crate) mod observe;
pub(crate) mod open;
pub(crate) mod outside_capture;
pub(crate) mod recording;
pub(crate) mod span;
pub(crate) mod stream;
pub(crate) mod tree;
