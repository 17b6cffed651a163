//! Spans and instruments that other APIs make: the OpenTelemetry API and `tracing`.
//!
//! What they make is plain owned data in the bounded queue of `trace::foreign`. Sampling, limits, account and export are those of our own spans.

#[cfg(has_otel)]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(has_tracing)]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub mod tracing_spans;
