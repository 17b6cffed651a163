//! Spans as a program sees them: annotated functions, scopes, futures, streams, spans made by hand, the current span and
//! contexts.
//!
//! Each of them owns at most one block of `record` and gives it back when it ends, also by a panic. User code never runs
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
