//! Metrics, declared and on functions of every form.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tracecast::{tc_metric, tc_metrics, tc_span};

use crate::declarations::{Source, StoreError, Tier, keys};

const SIZES: &[f64] = &[1024.0, 1_048_576.0];

tc_metrics! {
    /// Bytes that were moved.
    pub static MOVED: Counter<(keys::source, keys::device)> = "tc_moved_bytes_total" { unit: "By", budget: 5000 };
    /// Energy that was used.
    pub static ENERGY: Counter<(), f64> = "tc_energy_joules_total";
    /// Balance.
    pub static BALANCE: UpDownCounter<(keys::tier,)> = "tc_balance";
    /// Change.
    pub(crate) static CHANGE: UpDownCounter<(keys::hit,), f64> = "tc_change" { unit: "{change}" };
    /// Bytes in use.
    pub static USED: Gauge<(keys::maybe,), u64> = "tc_used_bytes";
    /// Depth.
    pub static DEPTH: Gauge<(keys::order,), i64> = "tc_depth";
    /// Temperature.
    pub static TEMPERATURE: Gauge = "tc_temperature_celsius";
    /// Loads, by how long they took.
    pub static LOAD: Histogram<(keys::tenant,)> = "tc_load_seconds" { buckets: [0.1, 1, 10], budget: 10_000 };
    /// Loads, by their size.
    pub static SIZE: Histogram<(), u64> = "tc_load_bytes" { buckets: SIZES };
    /// Replicas, by their size.
    pub static REPLICA: Histogram<(), u64> = "tc_replica_bytes" { exponential };
    /// Bytes that are free.
    pub static FREE: ObservableGauge<(keys::device,)> = "tc_free_bytes";
    /// Only sometimes.
    #[cfg(any())]
    pub static NEVER: Counter<(keys::artifact,)> = "tc_never_total";
    static PRIVATE: Counter = "tc_private_total";
}

/// Uses the private ones.
pub fn private() {
    PRIVATE.add(1_u8, ());
    CHANGE.add(-0.5, (true,));
}

/// Everything at once.
///
/// # Errors
/// If there is nothing in it.
#[tc_metric(
    calls = "tc_everything_total",
    errors = "tc_everything_errors_total",
    duration = "tc_everything_seconds",
    in_flight = "tc_everything_active",
    labels(keys::source = source, keys::hit = |bytes| bytes.len() > 1, keys::tier = Tier::Economy),
    buckets = [0.001, 1],
    budget = 3000
)]
pub fn everything(id: String, source: Source) -> Result<Vec<u8>, StoreError> {
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(id.into_bytes()) }
}

/// As above, later, and with a span.
///
/// # Errors
/// If there is nothing in it.
#[tc_metric(
    calls = "tc_later_total",
    errors = "tc_later_errors_total",
    duration = "tc_later_seconds",
    in_flight = "tc_later_active",
    labels(keys::source = source, keys::hit = |bytes| bytes.len() > 1),
    error_type = StoreError,
    exponential
)]
#[tc_span("Metric/Later", attrs(keys::artifact = &id), result(keys::bytes = |bytes| bytes.len()))]
pub async fn later(id: String, source: Source, _: u8) -> Result<Vec<u8>, StoreError> {
    ready(source).await;
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(id.into_bytes()) }
}

/// Nothing to see.
#[tc_metric(calls = "tc_units_total", duration = "tc_units_seconds")]
pub fn unit() {}

/// An argument for the label alone.
#[tc_metric(calls = "tc_for_labels_total", labels(keys::device = device))]
pub async fn for_the_label(device: u32, _ignored: &str) {
    ready(()).await;
}

/// Says nothing of an error.
///
/// # Errors
/// Always.
#[tc_metric(calls = "tc_no_err_total", no_err)]
pub fn no_err() -> Result<u8, StoreError> {
    Err(StoreError::Gone)
}

/// Says not which error.
///
/// # Errors
/// Always.
#[tc_metric(calls = "tc_no_type_total", error_type = none)]
pub fn no_type() -> Result<u8, StoreError> {
    Err(StoreError::Gone)
}

/// Does not return.
#[tc_metric(calls = "tc_nevers_total", in_flight = "tc_nevers_active")]
pub async fn never() -> ! {
    std::future::pending().await
}

/// Borrows, and is generic.
#[tc_metric(calls = "tc_generics_total")]
pub fn generic<'a, T: Into<u64>, const N: usize>((first, second): (&'a u8, T), third: [u8; N]) -> (&'a u8, u64) {
    (first, second.into() + third.len() as u64)
}

/// An opaque type.
#[tc_metric(calls = "tc_opaques_total")]
pub fn opaque(v: &[u8]) -> impl Fn(&u8) -> bool + use<'_> {
    |x| v.contains(x)
}

/// A caller that is known.
#[must_use]
#[track_caller]
#[tc_metric(calls = "tc_callers_total")]
#[tc_span("Metric/TrackCaller")]
pub fn track_caller() -> u32 {
    std::panic::Location::caller().line()
}

/// A block that is boxed.
#[must_use]
#[tc_metric(calls = "tc_boxed_total", labels(keys::tenant = id))]
pub fn boxed(id: &str) -> Pin<Box<dyn Future<Output = Result<usize, StoreError>> + Send + '_>> {
    let length = id.len();
    Box::pin(async move { Ok(length) })
}

/// A block that is opaque.
#[tc_metric(calls = "tc_opaque_futures_total", labels(keys::hit = |x| *x == 1))]
pub fn opaque_future(x: u8) -> impl Future<Output = Result<u8, StoreError>> {
    async move { Ok(x) }
}

/// A boxed future of another function.
#[must_use]
#[tc_metric(calls = "tc_rewrapped_total", future)]
#[tc_span("Metric/Rewrapped")]
pub fn rewrapped() -> BoxFuture<'static, u8> {
    Box::pin(ready(1))
}

/// Only the call.
#[tc_metric(calls = "tc_constructs_total", construct)]
pub fn construct() -> impl Future<Output = u8> {
    ready(1)
}

/// A stream with all that streams have.
#[tc_metric(
    calls = "tc_numbers_total",
    items = "tc_numbers_items_total",
    first_item = "tc_numbers_first_seconds",
    per_item = "tc_numbers_next_seconds",
    labels(keys::device = n)
)]
pub fn numbers(n: u8) -> impl Stream<Item = u8> {
    async_stream::stream! {
        for i in 0..n {
            yield i;
        }
    }
}

/// A boxed stream, with a span.
#[must_use]
#[tc_span("Metric/BoxedStream", stream)]
#[tc_metric(calls = "tc_boxed_streams_total", items = "tc_boxed_items_total")]
pub fn boxed_stream(v: &[u8]) -> BoxStream<'_, Result<u8, StoreError>> {
    stream::iter(v).map(|x| if *x == 0 { Err(StoreError::Gone) } else { Ok(*x) }).boxed()
}

/// An async function that makes a stream.
#[tc_metric(calls = "tc_async_streams_total", items = "tc_async_items_total", stream)]
pub async fn async_stream(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..ready(n).await)
}

/// Has methods.
#[derive(Clone, Debug, Default)]
pub struct Store {
    name: String,
}

#[tc_span(component = "MetricStore", methods = pub)]
impl Store {
    /// Named by the block.
    #[must_use]
    #[tc_metric(calls = "tc_stores_total")]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// Shares.
    #[tc_span(attrs(keys::artifact = &self.name))]
    #[tc_metric(calls = "tc_shares_total", labels(keys::tenant = &self.name))]
    pub async fn shared(self: Arc<Self>) -> usize {
        ready(self.name.len()).await
    }

    /// Consumes.
    #[must_use]
    #[tc_metric(calls = "tc_takes_total")]
    pub fn take(self) -> String {
        self.name
    }
}

impl fmt::Display for Store {
    #[tc_metric(calls = "tc_shown_total")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Loads through a box.
#[async_trait]
pub trait LoadsMeasured<T: Send + Sync + 'static> {
    /// Loads.
    async fn load_measured(&self, t: T, id: &str) -> Result<T, StoreError>;

    /// With a default.
    #[tc_metric(calls = "tc_default_loads_total")]
    async fn default_measured(&self, t: T) -> T
    where
        T: 'async_trait,
    {
        t
    }
}

#[async_trait]
impl<T> LoadsMeasured<T> for Store
where
    T: Send + Sync + 'static,
{
    #[tc_metric(calls = "tc_measured_loads_total", in_flight = "tc_measured_loads_active", labels(keys::tenant = id))]
    async fn load_measured(&self, t: T, id: &str) -> Result<T, StoreError> {
        if id.is_empty() { Err(StoreError::Gone) } else { Ok(t) }
    }
}
