//! From `init` to the backend: the export thread, transports, the spool, the console, and what is known of the process.
//!
//! One thread takes what was recorded, encodes and sends it; callers never wait for it, and its memory is bounded. Only
//! `shutdown` is above this room.

#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod account;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod console;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod init;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod pipeline;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod resource;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod scrape;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod self_metrics;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod spool;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) mod transport;
