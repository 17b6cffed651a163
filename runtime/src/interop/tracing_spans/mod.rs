//! Spans of `tracing` in the same traces as ours, and ours for subscribers of `tracing`.
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt as _;
//!
//! let subscriber = tracing_subscriber::registry().with(tracecast::tracing_spans::layer());
//! tracing::subscriber::with_default(subscriber, || {
//!     let _entered = tracing::info_span!("load", artifact = "llama", otel.kind = "client").entered();
//!     // Spans of ours that begin here are children of `load`.
//! });
//! ```
//!
//! Which spans are made is for the filters of the subscriber to say. Without telemetry the layer does nothing.
//!
//! Fields become attributes, but for those that `tracing-opentelemetry` knows as well: `otel.name` and `otel.kind` name
//! the span and its kind (`client`, `server`, `producer`, `consumer` or `internal`), `otel.status_code` (`ok` or `error`)
//! and `otel.status_description` say how it ended. `OpenTelemetrySpanExt` of `tracing-opentelemetry` works with that crate's own layer
//! only; if something sets a parent by it, a warning names the alternative. In a capture of [`testing`](crate::testing) only our spans are seen;
//! those of `tracing` are transparent there.

#[cfg(has_tracing_emit)]
mod emit;
mod entered;
mod fields;
mod ignored_parent;
mod layer;

#[cfg(has_tracing_emit)]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing-emit")))]
pub use self::emit::set_emitting;
pub use self::layer::{SpanLayer, layer};
