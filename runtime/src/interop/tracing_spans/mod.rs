//! Records spans of `tracing` in the same traces as ours, and emits ours for subscribers of `tracing`.
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt as _;
//!
//! let subscriber = tracing_subscriber::registry().with(tracecast::tracing_spans::layer());
//! tracing::subscriber::with_default(subscriber, || {
//!     let _entered = tracing::info_span!("load", artifact = "llama", otel.kind = "client").entered();
//!     // Our spans that begin here are children of `load`.
//! });
//! ```
//!
//! The subscriber's filters decide which spans are created. Without telemetry the layer does nothing.
//!
//! Fields become attributes, except those that `tracing-opentelemetry` defines as well: `otel.name` and `otel.kind` set the
//! name and the kind of the span (`client`, `server`, `producer`, `consumer` or `internal`), `otel.status_code` (`ok` or
//! `error`) and `otel.status_description` set its status. `OpenTelemetrySpanExt` of `tracing-opentelemetry` works only with
//! that crate's own layer; if code sets a parent through it, a warning names the alternative. Captures of
//! [`testing`](crate::testing) record only our spans; those of `tracing` are transparent there.

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
