//! Metrics of every form, some with a twin that has none.

use std::future::{Future, ready};
use std::pin::Pin;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tracecast::keys::{self, tensor::SourceType};
use tracecast::prelude::*;

use crate::evaluated;

/// What may go wrong.
#[derive(Debug, PartialEq, Eq, TcError)]
pub enum StoreError {
    /// No more.
    Gone,
}

tc_metrics! {
    /// Bytes that were moved.
    pub static MOVED: Counter<(keys::tensor::source, keys::device)> = "tc_moved_bytes_total" { budget: 100 };
    /// Balance.
    pub static BALANCE: UpDownCounter<(), f64> = "tc_balance";
    /// Bytes in use.
    pub static USED: Gauge<(keys::device,), u64> = "tc_used_bytes";
    /// Loads, by how long they took.
    pub static LOAD: Histogram<(keys::tensor::source,)> = "tc_load_seconds" { buckets: [0.1, 1] };
    /// Replicas, by their size.
    pub static REPLICA: Histogram<(), u64> = "tc_replica_bytes" { exponential };
    /// Bytes that are free.
    pub static FREE: ObservableGauge<(keys::device,)> = "tc_free_bytes";
}

/// Every option whose expression could be evaluated.
///
/// # Errors
/// If there is nothing in it.
#[tc_metric(
    calls = "tc_options_total",
    errors = "tc_options_errors_total",
    duration = "tc_options_seconds",
    in_flight = "tc_options_active",
    labels(keys::tensor::source = evaluated(source), keys::device = |length| evaluated(*length)),
    error_type = StoreError,
    buckets = [0.1, 1],
    budget = 3000
)]
pub fn options(id: &str, source: SourceType) -> Result<u32, StoreError> {
    if id.is_empty() { Err(StoreError::Gone) } else { Ok(1) }
}

/// A parameter for the label alone, with a span below.
#[tc_metric(calls = "tc_for_the_label_total", labels(keys::device = evaluated(device)))]
#[tc_span("Off/ForTheLabel", attrs(keys::tensor::artifact = evaluated(id)))]
pub async fn for_the_label(id: &str, device: u32) {
    ready(()).await;
}

/// A caller that is known.
#[must_use]
#[track_caller]
#[tc_metric(calls = "tc_callers_total", labels(keys::device = evaluated(1_u32)))]
pub fn track_caller() -> u32 {
    std::panic::Location::caller().line()
}

/// Without the attribute.
///
/// # Errors
/// None.
pub async fn plain_large(bytes: [u8; 1024]) -> Result<u8, StoreError> {
    ready(()).await;
    Ok(bytes[0])
}

/// With it.
///
/// # Errors
/// None.
#[tc_metric(calls = "tc_large_total", duration = "tc_large_seconds", labels(keys::device = evaluated(bytes[0])))]
pub async fn large(bytes: [u8; 1024]) -> Result<u8, StoreError> {
    ready(()).await;
    Ok(bytes[0])
}

/// With both.
///
/// # Errors
/// None.
#[tc_span("Off/MeasuredLarge", attrs(keys::size_bytes = evaluated(bytes.len())))]
#[tc_metric(calls = "tc_both_total", labels(keys::device = |first| evaluated(*first)))]
pub async fn both(bytes: [u8; 1024]) -> Result<u8, StoreError> {
    ready(()).await;
    Ok(bytes[0])
}

/// A block that is opaque.
#[tc_metric(calls = "tc_opaque_total", labels(keys::device = |x| evaluated(*x)))]
pub fn opaque(x: u8) -> impl Future<Output = u8> {
    let y = x + 1;
    async move { y }
}

/// A box.
#[must_use]
#[tc_metric(calls = "tc_boxed_total", future, labels(keys::device = evaluated(x)))]
pub fn boxed(x: u8) -> Pin<Box<dyn Future<Output = u8> + Send>> {
    Box::pin(ready(x))
}

/// A stream.
#[tc_metric(
    stream,
    calls = "tc_streams_total",
    items = "tc_items_total",
    first_item = "tc_first_seconds",
    per_item = "tc_next_seconds",
    labels(keys::device = evaluated(n))
)]
pub fn numbers(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..n)
}

/// A boxed stream.
#[must_use]
#[tc_metric(stream, calls = "tc_boxed_streams_total", exponential, first_item = "tc_boxed_first_seconds")]
pub fn boxed_stream(v: &[u8]) -> BoxStream<'_, u8> {
    stream::iter(v.iter().copied()).boxed()
}

/// An async function that makes a stream.
#[tc_metric(stream, calls = "tc_async_streams_total", labels(keys::device = evaluated(n)))]
pub async fn async_stream(n: u8) -> impl Stream<Item = u8> {
    stream::iter(0..ready(n).await)
}

/// Has methods.
#[derive(Clone, Copy, Debug)]
pub struct Measured;

#[tc_span(component = "Off", methods = pub)]
impl Measured {
    /// A method.
    #[must_use]
    #[tc_metric(calls = "tc_methods_total", labels(keys::device = evaluated(2_u32)))]
    pub fn method(self) -> u8 {
        1
    }
}

/// Loads.
#[async_trait]
pub trait LoadsMeasured {
    /// Loads.
    async fn load(&self, id: &str) -> usize;
}

#[async_trait]
impl LoadsMeasured for Measured {
    #[tc_metric(calls = "tc_loads_total", in_flight = "tc_loads_active", labels(keys::device = evaluated(3_u32)))]
    async fn load(&self, id: &str) -> usize {
        ready(id).await.len()
    }
}
