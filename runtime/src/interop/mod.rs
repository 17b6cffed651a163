//! Interoperation with other APIs: spans and instruments of the OpenTelemetry API, and spans of `tracing`.
//!
//! Third-party spans are plain owned data in the bounded queue of `trace::external`. Sampling, limits, account and
//! export are the same as for our spans.

#[cfg(has_otel)]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(has_tracing)]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub mod tracing_spans;
