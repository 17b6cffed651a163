//! Spans and instruments that other APIs make: the OpenTelemetry API and `tracing`.
//!
//! What they make is plain owned data in the bounded queue of `trace::foreign`. Sampling, limits, account and export are those of our own spans.

#[cfg(all(feature = "otel", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(all(feature = "tracing", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub mod tracing_spans;
