//! Re-exports the macros with their documentation. The documentation is in this crate so that its examples compile.

/// Records a span per call of a function. The span of a future or stream lasts until completion or drop.
///
/// ```
/// use tracecast::keys::{size_bytes, tensor::{SourceType, artifact, source}};
/// use tracecast::prelude::*;
///
/// #[tc_span("StoreDaemon/MaterializeReplica",
///           attrs(artifact = &request, source = SourceType::Disk),
///           result(size_bytes = |replica| replica.len()))]
/// async fn materialize(request: String) -> Result<Vec<u8>, std::io::Error> {
///     Ok(request.into_bytes())
/// }
/// # let captured = tracecast::testing::capture(|| futures::executor::block_on(materialize("llama".into())));
/// # captured.assert_tree("StoreDaemon/MaterializeReplica tc.artifact.id=llama tc.source.type=disk tc.size.bytes=5");
/// ```
///
/// # The name
/// `Component/Operation`, each part in UpperCamelCase. Inside `#[tc_span(component = "StoreDaemon")] impl …`, methods
/// with a bare `#[tc_span]` are named after the component and the method; `methods = pub` annotates all public methods.
///
/// ```
/// # use tracecast::prelude::*;
/// struct Store;
///
/// #[tc_span(component = "StoreDaemon")]
/// impl Store {
///     #[tc_span]
///     fn evict_replica(&self) {}
/// }
/// # tracecast::testing::capture(|| Store.evict_replica()).assert_tree("StoreDaemon/EvictReplica");
/// ```
///
/// # Options
/// | option | meaning |
/// |---|---|
/// | `kind = client` | `internal` (the default), `server`, `client`, `producer` or `consumer` |
/// | `attrs(key = value, ..)` | attributes, evaluated once, only if the span is recorded |
/// | `attrs("a.name" = value, ..)` | attributes of this span only, without a declared key; `"a.name": u64 = value` declares the type for the catalogue |
/// | `result(key = \|value\| .., ..)` | attributes from the value, or from the `Ok` value of a `Result` |
/// | `share(key = value, ..)` | attributes of this span and of all its descendants |
/// | `parent = context` | the parent, instead of the current span |
/// | `links(context, ..)` | related spans in this or other traces |
/// | `future`, `stream` | declares that the function returns a future or stream, and rejects types that cannot carry the span to its end; not needed if the signature shows the future or stream |
/// | `construct` | the span covers only the construction of the future or stream |
/// | `no_err` | an `Err` does not mark the span as failed |
/// | `err_if = \|error\| ..` | an `Err` marks the span as failed only if the closure returns true |
/// | `no_message` | records `error.type` of an error, but not `error.message` |
/// | `db(system = .., collection = .., operation = ..)` | a database call: named `<collection>.<operation>`, kind client, `db.*` attributes; also `namespace`, `query` |
/// | `needs_parent` | records the span only if it has a parent, so that background polling creates no traces |
/// | `heartbeat = "30s"` | exports a linked marker span `…/open` every 30 s while the span is open |
/// | `busy` | for a future or stream: records the time spent in polls (`tc.busy.seconds`), the number of polls (`tc.polls`) and the duration of the longest poll (`tc.poll.longest.seconds`) |
/// | `crate = path` | the path of `tracecast`, if another crate re-exports it |
///
/// # Outcome
/// A `Result` is recognised by its type, also through an alias. On `Err` the span fails, with `error.type` (the
/// variant, if the error derives [`TcError`](derive@crate::TcError), else the name of the error's type) and
/// `error.message` (the error's `Display` text, cut to 256 bytes). The outcome of a future that is dropped before
/// completion is `cancelled`, that of a call or future that panics is `panicked`.
///
/// # Futures
/// The parent and the attributes are determined when the function is called, so in `tokio::spawn(f())` the span gets
/// the caller's span as parent. The span starts with the first poll; a future that is never polled creates no span.
pub use crate::declare::sections::tc_span;

/// Records metrics per call of a function. For futures and streams a call lasts until completion or drop.
///
/// ```
/// use tracecast::keys::tensor::{SourceType, source};
/// use tracecast::prelude::*;
///
/// #[tc_span("StoreDaemon/MaterializeReplica")]
/// #[tc_metric(calls = "tc_materialize_total", duration = "tc_materialize_seconds",
///             in_flight = "tc_materialize_active", labels(source = from))]
/// async fn materialize(from: SourceType) -> Result<Vec<u8>, std::io::Error> {
///     Ok(vec![0; 5])
/// }
///
/// let captured = tracecast::testing::capture(|| futures::executor::block_on(materialize(SourceType::Disk)));
/// captured.assert_metrics("
///     tc_materialize_active{tc.source.type=disk} 0
///     tc_materialize_seconds{tc.source.type=disk} count=1
///     tc_materialize_total{tc.source.type=disk, outcome=ok} 1
/// ");
/// ```
///
/// If a function also has [`tc_span`](macro@crate::tc_span), above or below, both share one wrapper, one flag and one
/// pair of clock readings.
///
/// # Metrics
/// | option | metric | labels |
/// |---|---|---|
/// | `calls = "tc_.._total"` | a counter of ended calls | `labels`, `outcome`, and `error.type` if the error derives [`TcError`](derive@crate::TcError) |
/// | `errors = "tc_.._total"` | a counter of calls that ended with an error or a panic | as for `calls` |
/// | `duration = "tc_.._seconds"` | a histogram of durations | `labels` |
/// | `in_flight = "tc_.."` | the number of calls in progress, correct after errors, panics and cancellations | `labels` from arguments |
/// | `first_item = "tc_.._seconds"` | on streams: a histogram of the time to the first item | `labels` from arguments |
/// | `per_item = "tc_.._seconds"` | on streams: a histogram of the time from one item to the next | `labels` from arguments |
/// | `items = "tc_.._total"` | on streams: a counter of items | `labels` from arguments |
///
/// # Other options
/// | option | meaning |
/// |---|---|
/// | `labels(key = value, ..)` | labels, evaluated when the function is called. A closure, `key = \|value\| ..`, takes the label from the returned value, or from the `Ok` value of a `Result`; without a value the label is absent |
/// | `budget = 5000` | the largest number of series of each metric; the default is 2000 |
/// | `buckets = [0.1, 1.0]`, `exponential` | the buckets of the histograms |
/// | `error_type = StoreError` | the error type that defines the values of `error.type`, if the signature does not show that type. `error_type = none` omits the label `error.type`; required if the error is a type parameter of an `impl` block that is not under `tc_span` |
/// | `future`, `stream`, `construct`, `no_err`, `err_if`, `crate = path` | as for `tc_span` |
///
/// Names start with `tc_`, or with the prefix that the manifest of the crate sets:
///
/// ```toml
/// [package.metadata.tracecast]
/// metric-prefix = "acme_"
/// ```
pub use tracecast_macros::tc_metric;

/// Declares metrics: one static each, with typed labels and a bounded number of series.
///
/// ```
/// use tracecast::keys::{device, tensor::{SourceType, source}};
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Bytes moved between peers.
///     pub static P2P_BYTES: Counter<(source, device)> = "tc_p2p_bytes_total";
///     /// Bytes of the pool in use.
///     pub static POOL_USED: Gauge<(device,)> = "tc_pool_used_bytes";
///     /// How long a replica takes to load.
///     static LOAD: Histogram<(source,)> = "tc_load_seconds" { buckets: [0.1, 1, 10, 60] };
///     /// How large replicas are.
///     static SIZE: Histogram<(), u64> = "tc_replica_bytes" { exponential };
///     /// Loads in progress.
///     static ACTIVE: UpDownCounter = "tc_load_active";
/// }
///
/// fn main() {
///     let captured = tracecast::testing::capture(|| {
///         P2P_BYTES.add(4096_u64, (SourceType::Remote, 3_u32));
///         POOL_USED.set(1 << 30, (3_u32,));
///         LOAD.record(0.25, (SourceType::Disk,));
///         SIZE.record(4096_u64, ());
///         ACTIVE.add(1, ());
///     });
///     captured.assert_metrics("
///         tc_load_active 1
///         tc_load_seconds{tc.source.type=disk} count=1
///         tc_p2p_bytes_total{tc.source.type=remote, tc.device.id=3} 4096
///         tc_pool_used_bytes{tc.device.id=3} 1073741824
///         tc_replica_bytes count=1
///     ");
/// }
/// ```
///
/// [`Counter`](crate::Counter), [`UpDownCounter`](crate::UpDownCounter), [`Gauge`](crate::Gauge),
/// [`Histogram`](crate::Histogram) and [`ObservableGauge`](crate::ObservableGauge) take a tuple of keys that were
/// declared with `label`, and optionally a number type. Options follow in braces: `unit: ".."` if the name does not end
/// with the unit, `budget: 5000` for more series than 2000, and for a histogram `buckets: [..]` or `exponential`.
///
/// The product of the numbers of label values, times the buckets of a histogram, must not exceed the budget. Otherwise
/// the crate does not compile, and the error shows the arithmetic. The unit follows from the name, so Prometheus keeps
/// the name unchanged.
///
/// Names of OpenTelemetry's semantic conventions are accepted unchanged, with an explicit unit:
/// `static DURATION: Histogram = "http.server.request.duration" { unit: "s" };`.
#[macro_export]
macro_rules! tc_metrics {
    ($($tokens:tt)*) => {
        $crate::__private::__metrics! { crate = $crate; $($tokens)* }
    };
}

/// Makes an enum a label type: a closed set of values, for attributes of spans and labels of metrics.
///
/// ```
/// use tracecast::{ClosedLabel, TcLabel};
///
/// #[derive(Clone, Copy, Debug, PartialEq, TcLabel)]
/// #[tc_label(rename_all = "kebab-case")]
/// enum Phase {
///     Prefill,
///     #[tc_label(rename = "gen")]
///     Decode,
///     /// The result of `from_value` for every other text.
///     #[tc_label(other)]
///     SomethingElse,
/// }
///
/// assert_eq!(Phase::VALUES, ["prefill", "gen", "something-else"]);
/// assert_eq!(Phase::from_value("warmup"), Some(Phase::SomethingElse));
/// ```
pub use tracecast_macros::TcLabel;

/// Gives an error type a closed set of values of `error.type`: the names of an enum's variants, or the name of a struct.
/// `rename` replaces a name.
///
/// ```
/// use tracecast::TcError;
///
/// #[derive(TcError)]
/// enum StoreError {
///     NotFound { id: String },
///     #[tc_error(rename = "timeout")]
///     TimedOut,
/// }
///
/// assert_eq!(StoreError::TYPES, ["NotFound", "timeout"]);
/// assert_eq!(StoreError::TimedOut.error_type(), "timeout");
/// # let _ = StoreError::NotFound { id: String::new() };
/// ```
pub use tracecast_macros::TcError;

/// Declares keys: the typed names under which values are recorded.
///
/// ```
/// use tracecast::TcLabel;
///
/// #[derive(Clone, Copy, TcLabel)]
/// pub enum SourceType { Remote, Disk }
///
/// pub mod keys {
///     use super::SourceType;
///     tracecast::tc_keys! {
///         /// Closed: for spans and metrics.
///         pub label   source: SourceType   = "tc.source.type";
///         /// Bounded; indices from 16 on are `other`.
///         pub label   device: Index<16>    = "tc.device.id";
///         /// Learnt at run time, up to a limit; the 33rd text is `other`.
///         pub label   tenant: Interned<32> = "tc.tenant.class";
///         /// An open identifier: for spans and logs only.
///         pub id      artifact: str        = "tc.artifact.id";
///         /// A quantity: for spans only.
///         pub measure bytes: u64           = "tc.size.bytes";
///         /// A list, from slices, arrays or vectors: for spans only.
///         pub id      shape: [u64]         = "tc.tensor.shape";
///     }
/// }
/// # fn main() {}
/// ```
///
/// A `label` has a type that derives [`TcLabel`](derive@crate::TcLabel), a `bool`, an `Option` of a label, `Index<N>` or
/// `Interned<N>`. An `id` is a `str`, `u64`, `i64` or `bool`; a `measure` is a `u64`, `i64` or `f64`. An `id` or a `measure`
/// may also be a list of these types, such as `[u64]`.
#[macro_export]
macro_rules! tc_keys {
    ($($tokens:tt)*) => {
        $crate::__private::__keys! { crate = $crate; $($tokens)* }
    };
}

/// Opens a span for a block of code. The span ends when the returned [`Scope`](crate::Scope) is dropped.
///
/// ```
/// use tracecast::prelude::*;
///
/// fn ingest(bytes: u64) {
///     let _scope = tc_scope!("StoreEngine/P2PIngest", attrs(tracecast::keys::size_bytes = bytes));
/// }
/// # tracecast::testing::capture(|| ingest(7)).assert_tree("StoreEngine/P2PIngest tc.size.bytes=7");
/// ```
///
/// The options are those of [`tc_span`](macro@crate::tc_span) that do not need a function: `kind`, `attrs`, `share`,
/// `parent`, `links`, `needs_parent`, `heartbeat`, `busy`. For an async block, pass the scope to
/// [`in_span`](crate::FutureInSpan::in_span), because a scope that is held across an `await` does not follow the task.
#[macro_export]
macro_rules! tc_scope {
    ($($tokens:tt)*) => {
        $crate::__private::__scope! { crate = $crate; $($tokens)* }
    };
}

/// Declares a label for an enum that another crate defines.
///
/// ```
/// use tracecast::prelude::*;
///
/// tracecast::tc_label_for! {
///     /// The kind of an I/O error.
///     pub struct IoKind for std::io::ErrorKind {
///         NotFound => "not_found",
///         TimedOut => "timed_out",
///         _ => "other",
///     }
/// }
///
/// mod keys {
///     tracecast::tc_keys! {
///         /// The kind of an I/O error.
///         pub label io_kind: super::IoKind = "tc.io.kind";
///     }
/// }
///
/// #[tc_span("Disk/Report", attrs(keys::io_kind = error.kind()))]
/// fn report(error: &std::io::Error) {}
/// # fn main() {
/// # let error = std::io::Error::from(std::io::ErrorKind::TimedOut);
/// # tracecast::testing::capture(|| report(&error)).assert_tree("Disk/Report tc.io.kind=timed_out");
/// # }
/// ```
#[macro_export]
macro_rules! tc_label_for {
    ($($tokens:tt)*) => {
        $crate::__private::__label_for! { crate = $crate; $($tokens)* }
    };
}
