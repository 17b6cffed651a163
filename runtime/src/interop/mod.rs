//! Interoperation with other APIs: spans and instruments of the OpenTelemetry API, and spans of `tracing`.
//!
//! The data of third-party spans is owned and waits in the bounded queue of `trace::external`. Such spans are sampled,
//! limited, counted and exported like ours.

#[cfg(has_otel)]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(has_tracing)]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub mod tracing_spans;
