//! Memory, atomics, bounded tables, escaped text and output to standard error: the base of all other rooms.
//!
//! This room uses no other room and contains nothing about spans or metrics. Memory is reserved once and bounded. On Unix, a
//! notice never blocks its caller.

pub(crate) mod escape;
#[cfg(all(test, not(loom), not(miri)))]
pub(crate) mod fuzz;
#[cfg(any(feature = "grpc", feature = "tonic"))]
pub(crate) mod grpc;
pub(crate) mod life;
pub(crate) mod memory;
pub(crate) mod notice;
pub(crate) mod percent;
#[cfg(has_otlp)]
pub(crate) mod secret;
pub(crate) mod stack;
#[cfg(has_otlp)]
pub(crate) mod suppress;
pub(crate) mod sync;
pub(crate) mod table;
pub(crate) mod word;

/// Marks the branch that calls this function as unlikely, as `std::hint::cold_path` of Rust 1.95 does.
#[cold]
#[inline]
pub(crate) fn cold_path() {}
