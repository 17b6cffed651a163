//! The macros, with their documentation: here, where its examples compile.

/// Makes a span of every call of a function, of a future to its end, or of a stream to its end or drop.
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
/// `Component/Operation`, each part in UpperCamelCase. Inside `#[tc_span(component = "StoreDaemon")] impl …` the methods
/// that carry a bare `#[tc_span]` are named after the component and themselves; `methods = pub` takes all public ones.
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
/// | `attrs(key = value, ..)` | attributes, evaluated once, and only if the span is recorded |
/// | `attrs("a.name" = value, ..)` | attributes that only this span has, without a declared key; `"a.name": u64 = value` says the type for the catalogue |
/// | `result(key = \|value\| .., ..)` | attributes from the value, or from the `Ok` value of a `Result` |
/// | `share(key = value, ..)` | attributes of this span and of all below it |
/// | `parent = context` | the parent, instead of the current span |
/// | `links(context, ..)` | other spans that this one has to do with |
/// | `future`, `stream` | refuses a return type that cannot carry the span to its end; futures and streams that the signature shows need no option |
/// | `construct` | the span covers only the making of the future or stream |
/// | `no_err` | an `Err` is not an error of the span |
/// | `err_if = \|error\| ..` | an `Err` is an error of the span only if the closure returns true |
/// | `no_message` | of an error, record `error.type` and not `error.message` |
/// | `db(system = .., collection = .., operation = ..)` | a database call: named `<collection>.<operation>`, kind client, `db.*` attributes; also `namespace`, `query` |
/// | `needs_parent` | makes no root: background polling stays untraced |
/// | `heartbeat = "30s"` | while the span is open, a linked marker `…/open` says so every 30 s |
/// | `busy` | of a future or stream, records how long it was polled (`tc.busy.seconds`), how often (`tc.polls`) and the longest poll (`tc.poll.longest.seconds`) |
/// | `crate = path` | where to find this crate, if it is re-exported |
///
/// # Outcome
/// A `Result` is recognised by its type, also behind an alias. On `Err` the span fails, with `error.type` (the variant,
/// where the error derives [`TcError`](derive@crate::TcError); else the type's name) and `error.message` (its `Display`,
/// cut to 256 bytes). A future dropped before its end is `cancelled`; one that panics is `panicked`.
///
/// # Futures
/// Parent and attributes are taken when the function is called, so `tokio::spawn(f())` keeps its parent; the clock
/// starts with the first poll, and a future that is never polled makes no span.
pub use crate::declare::sections::tc_span;

/// Makes metrics of the calls of a function, of a future to its end, or of a stream to its end or drop.
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
/// On one function with [`tc_span`](macro@crate::tc_span), above or below it, the two are one wrapper, with one flag and
/// one pair of clock readings.
///
/// # Metrics
/// | option | is | carries |
/// |---|---|---|
/// | `calls = "tc_.._total"` | a counter of calls that ended | labels, `outcome`, and `error.type` where the error derives [`TcError`](derive@crate::TcError) |
/// | `errors = "tc_.._total"` | a counter of calls that ended in an error or a panic | the same |
/// | `duration = "tc_.._seconds"` | a histogram of how long they took | labels |
/// | `in_flight = "tc_.."` | how many are in progress, back at zero after errors, panics and cancellations | labels from the arguments |
/// | `first_item = "tc_.._seconds"` | on streams: a histogram of the time to the first item | labels from the arguments |
/// | `per_item = "tc_.._seconds"` | on streams: a histogram of the time from one item to the next | labels from the arguments |
/// | `items = "tc_.._total"` | on streams: a counter of items | labels from the arguments |
///
/// # Other options
/// | option | meaning |
/// |---|---|
/// | `labels(key = value, ..)` | labels, evaluated when the function is called. A closure, `key = \|value\| ..`, takes its label from the value, or from the `Ok` value of a `Result`; without a value the label is absent |
/// | `budget = 5000` | how many series each of the metrics may have; 2000 if not given |
/// | `buckets = [0.1, 1.0]`, `exponential` | the buckets of the histograms |
/// | `error_type = StoreError` | the error whose types are the values of `error.type`, where the signature does not show it. `error_type = none` leaves that label out, which a method needs whose error is a type parameter of its `impl` block |
/// | `future`, `stream`, `construct`, `no_err`, `err_if`, `crate = path` | as for `tc_span` |
///
/// Names start with `tc_`, or with the prefix that the crate's own manifest sets once:
///
/// ```toml
/// [package.metadata.tracecast]
/// metric-prefix = "acme_"
/// ```
pub use tracecast_macros::tc_metric;

/// Declares metrics: a static each, with typed labels and a bounded number of series.
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
/// declared with `label`, and maybe what they count in. In braces: `unit: ".."` where the name does not say it,
/// `budget: 5000` for more series than 2000, and for a histogram `buckets: [..]` or `exponential`.
///
/// The product of the labels' values, times the buckets of a histogram, must be within the budget, or the crate does not
/// compile and the error shows the arithmetic. The unit follows from the name, which is such that Prometheus keeps it.
///
/// Names of OpenTelemetry's semantic conventions are taken as they are, with their unit beside them:
/// `static DURATION: Histogram = "http.server.request.duration" { unit: "s" };`.
#[macro_export]
macro_rules! tc_metrics {
    ($($tokens:tt)*) => {
        $crate::__private::__metrics! { crate = $crate; $($tokens)* }
    };
}

/// Makes an enum a label: a closed set of values, which spans and metrics may carry.
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
///     /// What `from_value` gives for every other text.
///     #[tc_label(other)]
///     SomethingElse,
/// }
///
/// assert_eq!(Phase::VALUES, ["prefill", "gen", "something-else"]);
/// assert_eq!(Phase::from_value("warmup"), Some(Phase::SomethingElse));
/// ```
pub use tracecast_macros::TcLabel;

/// Gives an error a closed set of types, recorded as `error.type`.
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
///         /// Closed: spans and metrics.
///         pub label   source: SourceType   = "tc.source.type";
///         /// Bounded; past the end is `other`.
///         pub label   device: Index<16>    = "tc.device.id";
///         /// Learnt at run time, capped; the 33rd is `other`.
///         pub label   tenant: Interned<32> = "tc.tenant.class";
///         /// An open identifier: spans and logs only.
///         pub id      artifact: str        = "tc.artifact.id";
///         /// A quantity: spans only.
///         pub measure bytes: u64           = "tc.size.bytes";
///         /// A list, of slices, arrays or vectors: spans only.
///         pub id      shape: [u64]         = "tc.tensor.shape";
///     }
/// }
/// # fn main() {}
/// ```
///
/// A label is a type with [`TcLabel`](derive@crate::TcLabel), a `bool`, an `Option` of a label, `Index<N>` or
/// `Interned<N>`. An `id` is a `str`, `u64`, `i64` or `bool`; a `measure` is a `u64`, `i64` or `f64`. Both may be lists of these.
#[macro_export]
macro_rules! tc_keys {
    ($($tokens:tt)*) => {
        $crate::__private::__keys! { crate = $crate; $($tokens)* }
    };
}

/// Opens a span for a block of code: it ends with the returned [`Scope`](crate::Scope).
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
/// Options are those of [`tc_span`](macro@crate::tc_span) that do not need a function: `kind`, `attrs`, `share`,
/// `parent`, `links`, `needs_parent`, `heartbeat`, `busy`. For an async block, give the scope to
/// [`in_span`](crate::FutureInSpan::in_span): a guard that is held across an `await` does not follow the task.
#[macro_export]
macro_rules! tc_scope {
    ($($tokens:tt)*) => {
        $crate::__private::__scope! { crate = $crate; $($tokens)* }
    };
}

/// Makes a label of an enum that another crate defines.
///
/// ```
/// use tracecast::prelude::*;
///
/// tracecast::tc_label_for! {
///     /// What kind of I/O error it was.
///     pub struct IoKind for std::io::ErrorKind {
///         NotFound => "not_found",
///         TimedOut => "timed_out",
///         _ => "other",
///     }
/// }
///
/// mod keys {
///     tracecast::tc_keys! {
///         /// What kind of I/O error it was.
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
