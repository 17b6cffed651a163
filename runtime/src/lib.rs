//! Spans and metrics by annotation, for services that move tensors, run models and manage GPUs.
//!
//! A function with [`#[tc_span]`](macro@tc_span) becomes an OpenTelemetry span named `Component/Operation`. Its
//! attributes are typed keys, declared once with [`tc_keys!`]; only attributes that you name are captured. Switched
//! off, a span costs a load and a branch; switched on, little more than two clock readings.
//!
//! [`#[tc_metric]`](macro@tc_metric) counts and times the calls of a function, in the same wrapper; [`tc_metrics!`]
//! declares other metrics. Labels have a closed or bounded set of values, and a metric whose series could exceed its
//! budget does not compile.
//!
//! ```
//! use tracecast::prelude::*;
//!
//! #[derive(Clone, Copy, TcLabel)]
//! pub enum SourceType { Remote, Disk }
//!
//! pub mod keys {
//!     use super::SourceType;
//!     tracecast::tc_keys! {
//!         /// Where the bytes of a replica come from.
//!         pub label   source: SourceType = "tc.source.type";
//!         /// The artifact to load.
//!         pub id      artifact: str      = "tc.artifact.id";
//!         /// How much of it.
//!         pub measure bytes: u64         = "tc.size.bytes";
//!     }
//! }
//!
//! #[tc_span("StoreDaemon/MaterializeReplica",
//!           attrs(keys::artifact = artifact, keys::source = source),
//!           result(keys::bytes = |replica| replica.len()))]
//! #[tc_metric(calls = "tc_materialize_total", labels(keys::source = source))]
//! fn materialize(artifact: &str, source: SourceType) -> Result<Vec<u8>, std::io::Error> {
//!     Ok(artifact.as_bytes().to_vec())
//! }
//!
//! fn main() {
//!     let captured = tracecast::testing::capture(|| materialize("llama", SourceType::Disk));
//!     captured.assert_tree("
//!         StoreDaemon/MaterializeReplica tc.artifact.id=llama tc.source.type=disk tc.size.bytes=5
//!     ");
//!     captured.assert_metrics("tc_materialize_total{tc.source.type=disk, outcome=ok} 1");
//! }
//! ```
//!
//! [`init()`] starts telemetry from environment variables: spans, metrics and log records over OTLP. See [`config`] for
//! settings, [`logs`] for events of `tracing` and `log`, [`shutdown`] for a graceful shutdown. The crates `tracecast-tower` and
//! `tracecast-nvml` provide layers for gRPC and HTTP, and GPU and host metrics.
//!
//! # Features
//! - `otlp` (on by default): configuration and export. Libraries that only annotate code do not need this feature.
//! - `grpc` (on by default): OTLP over gRPC. Without this feature, settings that select gRPC are rejected with an error that
//!   names it.
//! - `tls`: `https` endpoints. Without this feature, `https` endpoints are rejected with an error that names it.
//! - `logs` (on by default): turns events of `tracing` and `log` into lines and OTLP log records; see [`logs`].
//! - `otel`: accepts spans and instruments of the OpenTelemetry API, and exporters of its SDK; see the module `otel`.
//! - `tracing`: records spans of `tracing` together with ours, in common traces; see the module `tracing_spans`.
//! - `anyhow`, `http`, `tonic`: more precise `error.type` and `error.message` for errors of these crates.
//! - `tracing-emit`: emits our spans as spans of `tracing`, for subscribers of `tracing`; switched on by `TC_TRACING_EMIT` or
//!   `tracing_spans::set_emitting`.
//! - `off`: compiles out every annotated span, scope and declared metric. Only applications should enable it, not libraries.
//!
// If a feature is off, links to its items point to docs.rs.
#![cfg_attr(not(has_otlp), doc = "[`config`]: https://docs.rs/tracecast/latest/tracecast/config/")]
#![cfg_attr(not(has_otlp), doc = "[`init()`]: https://docs.rs/tracecast/latest/tracecast/fn.init.html")]
#![cfg_attr(not(has_otlp), doc = "[`shutdown`]: https://docs.rs/tracecast/latest/tracecast/shutdown/")]
#![cfg_attr(not(has_logs), doc = "[`logs`]: https://docs.rs/tracecast/latest/tracecast/logs/")]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate self as tracecast;

mod base;
pub mod catalogue;
#[cfg(has_otlp)]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod config;
mod declare;
#[cfg(has_otlp)]
mod encode;
#[cfg(has_otlp)]
mod export;
mod formats;
mod interop;
#[cfg(has_logs)]
#[cfg_attr(docsrs, doc(cfg(feature = "logs")))]
pub mod logs;
mod macros;
mod meter;
pub mod prelude;
mod propagate;
mod record;
#[cfg(has_otlp)]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod shutdown;
pub mod testing;
mod trace;

#[cfg(all(has_otlp, feature = "__internals"))]
#[doc(hidden)]
#[path = "export/bench.rs"]
pub mod __bench;
#[cfg(all(has_logs, feature = "__internals"))]
#[doc(hidden)]
#[path = "export/test_logs.rs"]
pub mod __logs;
/// Items for `tracecast-tower`. These items are not public API, and may change in any minor release.
#[doc(hidden)]
pub mod __layers {
    pub use crate::declare::switch::{is_active, is_capturing, is_measuring};
    pub use crate::propagate::conventions;
    pub use crate::record::clock::Moment;
    pub use crate::trace::builder::SpanName;
    pub use crate::trace::span::Start;
}
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// Compiles and runs the Rust code of the book and of the README with the documentation tests.
#[cfg(all(doctest, feature = "logs"))]
mod book {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../book/src/introduction.md")]
    struct Introduction;
    #[doc = include_str!("../../book/src/configuration.md")]
    struct Configuration;
    #[doc = include_str!("../../book/src/configuration-file.md")]
    struct ConfigurationFile;
    #[doc = include_str!("../../book/src/getting-started.md")]
    struct GettingStarted;
    #[doc = include_str!("../../book/src/spans.md")]
    struct Spans;
    #[doc = include_str!("../../book/src/keys.md")]
    struct Keys;
    #[doc = include_str!("../../book/src/metrics.md")]
    struct Metrics;
    #[doc = include_str!("../../book/src/async.md")]
    struct Async;
    #[doc = include_str!("../../book/src/tokio.md")]
    struct Tokio;
    #[doc = include_str!("../../book/src/stalls.md")]
    struct Stalls;
    #[doc = include_str!("../../book/src/libraries.md")]
    struct Libraries;
    #[doc = include_str!("../../book/src/sharing.md")]
    struct Sharing;
    #[doc = include_str!("../../book/src/logs.md")]
    struct Logs;
    #[doc = include_str!("../../book/src/testing.md")]
    struct Testing;
    #[doc = include_str!("../../book/src/catalogue.md")]
    struct Catalogue;
    #[doc = include_str!("../../book/src/shutdown.md")]
    struct Shutdown;
    #[doc = include_str!("../../book/src/migrating.md")]
    struct Migrating;
}

pub use crate::declare::keys;
#[cfg(has_otel)]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub use crate::interop::otel;
#[cfg(has_tracing)]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub use crate::interop::tracing_spans;
pub use crate::propagate::propagation;

pub use crate::catalogue::list::catalogue;
pub use crate::declare::amount::IntoAmount;
pub use crate::declare::array::Array;
pub use crate::declare::callsite::Kind;
pub use crate::declare::filter::{Filter, FilterError};
pub use crate::declare::interned::{Interned, InternedKey};
pub use crate::declare::key::{Key, KeyOf, LabelKey};
pub use crate::declare::label::{ClosedLabel, Index, Label};
pub use crate::declare::metric::{LabelSet, LabelValues};
pub use crate::declare::observe::Observation;
pub use crate::declare::value::{Displayed, IntoValue, OwnedValue, Static, Value, display};
#[cfg(has_otlp)]
pub use crate::export::init::{
    Guard, Handle, InitError, NotRunning, ReloadError, Reloaded, Report, SetEnabledError, init, try_init,
};
#[cfg(has_otlp)]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub use crate::export::runtimes::{ObservedRuntime, observe_runtime};
pub use crate::macros::*;
pub use crate::meter::instrument::{Counter, Gauge, Histogram, Number, ObservableGauge, UpDownCounter};
pub use crate::meter::metering::{MetricsError, UnknownMetric};
pub use crate::propagate::carrier::Carrier;
pub use crate::record::finished::Outcome;
pub use crate::record::ids::{SpanId, TraceId};
pub use crate::record::sampling::{CustomSampler, Root, Sampler};
pub use crate::trace::builder::SpanBuilder;
pub use crate::trace::context::{Attached, BaggageError, Context};
pub use crate::trace::current::{Current, EventAttributes, current};
pub use crate::trace::error::TcError;
pub use crate::trace::future::{FutureInSpan, Instrumented};
pub use crate::trace::span::{IntoLinks, IntoParent, Scope, Span};
pub use crate::trace::stream::{InstrumentedStream, StreamInSpan};
