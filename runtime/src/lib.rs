//! Spans and metrics by annotation, for services that move tensors, run models and look after GPUs.
//!
//! A function under [`#[tc_span]`](macro@tc_span) becomes an OpenTelemetry span named `Component/Operation`. Its
//! attributes are typed keys, declared once with [`tc_keys!`]; nothing is captured that was not named. Switched off it
//! costs a load and a branch, switched on little more than two clock reads.
//!
//! Under [`#[tc_metric]`](macro@tc_metric) its calls are counted and timed, in the same wrapper; [`tc_metrics!`] declares
//! metrics of your own. Labels have a closed or bounded set of values, and a metric whose series could exceed its budget
//! does not compile.
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
//!         /// The artifact that is loaded.
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
//! [`init()`] starts telemetry as the environment says: spans, metrics and log records over OTLP. [`config`] says more of
//! that, [`logs`] is about events of `tracing` and `log`, [`shutdown`] about an orderly end. The crates `tracecast-tower` and
//! `tracecast-nvml` have layers for gRPC and HTTP, and GPU and host metrics.
//!
//! # Features
//! - `otlp` (on by default): configuration and export. Without it the crate is what a library needs that only annotates.
//! - `logs` (on by default) turns events of `tracing` and `log` into lines and OTLP log records; see [`logs`].
//! - `otel`: spans and instruments of the OpenTelemetry API beside ours, and exporters of its SDK; see the module `otel`.
//! - `tracing`: spans of `tracing` beside ours; see the module `tracing_spans`.
//! - `off` compiles every span, scope and metric out. It is for applications to choose, not for libraries.

#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate self as tracecast;

mod amount;
mod announce;
#[cfg(feature = "otlp")]
mod attribute;
mod block;
mod bridge;
mod builder;
mod callsite;
mod capture;
mod carrier;
mod catalogue;
mod cells;
mod chunk;
mod clock;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod collector;
#[cfg(feature = "otlp")]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod config;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod console;
mod context;
pub mod conventions;
mod current;
#[cfg(feature = "otlp")]
#[allow(dead_code, reason = "the export uses it")]
mod encode;
mod error;
mod exemplar;
mod expansion;
mod exposition;
mod ext;
mod fields;
mod filter;
mod finished;
#[cfg(feature = "otlp")]
#[allow(dead_code, unused_imports, reason = "the bridges to other APIs use it")]
mod foreign;
mod fork;
#[allow(dead_code, unused_imports, reason = "a format is written as a whole")]
mod formats;
mod future;
mod ids;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod init;
mod instrument;
mod interned;
mod item;
mod key;
pub mod keys;
mod label;
mod limits;
mod local;
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "logs")))]
pub mod logs;
mod macros;
mod measure;
mod meter;
mod metering;
mod metric;
mod notice;
mod observe;
mod open;
#[cfg(all(feature = "otel", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "otel")))]
pub mod otel;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
#[allow(dead_code, reason = "the collector uses it")]
mod own;
pub mod prelude;
mod probe;
pub mod propagation;
mod reader;
mod record;
mod recorder;
mod recording;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod redact;
mod registry;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod resource;
mod sampling;
#[cfg(feature = "otlp")]
mod secret;
mod sections;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod shutdown;
mod snapshot;
mod span;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
#[allow(dead_code, unused_imports, reason = "the collector uses it")]
mod spool;
mod stack;
mod stray;
mod stream;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
mod suppress;
mod switch;
mod sync;
mod table;
mod tail;
pub mod testing;
mod threads;
#[cfg(all(feature = "tracing", not(target_family = "wasm"), not(loom)))]
#[cfg_attr(docsrs, doc(cfg(feature = "tracing")))]
pub mod tracing_spans;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
#[allow(dead_code, unused_imports, reason = "init uses it")]
mod transport;
mod tree;
mod value;
#[cfg(feature = "otlp")]
#[allow(dead_code, reason = "init uses it")]
mod views;
mod word;

#[cfg(feature = "otlp")]
#[doc(hidden)]
#[path = "bench.rs"]
pub mod __bench;
#[cfg(all(feature = "logs", not(target_family = "wasm"), not(loom)))]
#[doc(hidden)]
#[path = "logs_door.rs"]
pub mod __logs;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// The book's Rust code is compiled and run with the documentation's.
#[cfg(all(doctest, feature = "logs"))]
mod book {
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

pub use crate::amount::IntoAmount;
pub use crate::builder::{SpanBuilder, SpanName};
pub use crate::callsite::{Callsite, Kind};
pub use crate::carrier::Carrier;
pub use crate::catalogue::{Catalogue, Comparison, Conflict, Listing, ListingError, catalogue};
pub use crate::context::{Attached, BaggageError, Context};
pub use crate::current::{Current, EventAttributes, current};
pub use crate::error::TcError;
pub use crate::exemplar::Exemplars;
pub use crate::filter::{Filter, FilterError};
pub use crate::finished::{Attribute, Event, FinishedSpan, Link, Outcome};
pub use crate::future::{FutureExt, Instrumented};
pub use crate::ids::{SpanId, TraceId};
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub use crate::init::{Guard, InitError, NoExporter, ReloadError, Reloaded, Report, init, try_init};
pub use crate::instrument::{Counter, Gauge, Histogram, Number, ObservableGauge, UpDownCounter};
pub use crate::interned::{Interned, InternedHandle, InternedKey};
pub use crate::key::{Key, KeyKind, KeyMeta, KeyOf, LabelKey, ValueType};
pub use crate::label::{ClosedLabel, Index, Label};
pub use crate::limits::Limits;
pub use crate::macros::*;
pub use crate::metering::{Metering, MeteringConfig, MeteringError, UnknownMetric};
pub use crate::metric::{Buckets, Dimension, LabelSet, LabelValues, MetricKind, MetricMeta, NumberType};
pub use crate::observe::Observation;
pub use crate::reader::Reader;
pub use crate::recorder::{Accounting, Capacity, Dropped};
pub use crate::recording::{AlreadyRecording, Recording, RecordingConfig};
pub use crate::sampling::{CustomSampler, Root, Sampler};
pub use crate::snapshot::{
    ExemplarPoint, ExponentialBuckets, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot,
    Temporality,
};
#[cfg(feature = "otlp")]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub use crate::snapshot::{ForeignMetric, ForeignPoint, ForeignScope};
pub use crate::span::{IntoLinks, IntoParent, Scope, Span};
pub use crate::stream::{InstrumentedStream, StreamExt};
pub use crate::value::{Displayed, IntoValue, OwnedValue, Static, Value, display};
