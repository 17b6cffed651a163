//! All options on functions that return a stream.

#![deny(dead_code, unused_imports, unused_variables)]

use std::pin::Pin;

use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use tracecast::keys::tensor::{SourceType, source};
use tracecast::{TcError, tc_metric};

#[derive(Debug, PartialEq, TcError)]
struct Gone;

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", duration = "tc_load_seconds",
            in_flight = "tc_loads_active", first_item = "tc_load_first_seconds", per_item = "tc_load_item_seconds",
            items = "tc_load_items_total", labels(source = from), budget = 5000, buckets = [0.1, 1], error_type = Gone,
            stream, crate = tracecast)]
fn load(from: SourceType) -> impl Stream<Item = Result<u32, Gone>> {
    stream::iter([Ok(from as u32), Err(Gone)])
}

#[tc_metric(stream, per_item = "tc_size_item_seconds", exponential, items = "tc_sizes_total", no_err)]
fn sizes() -> Pin<Box<dyn Stream<Item = u32> + Send>> {
    stream::iter([1, 2]).boxed()
}

#[tc_metric(first_item = "tc_fetch_first_seconds", stream)]
async fn fetch() -> impl Stream<Item = u32> {
    stream::iter([1, 2])
}

#[tc_metric(calls = "tc_makes_total", construct)]
fn make() -> impl Stream<Item = u32> {
    stream::iter([1, 2])
}

fn all<T>(stream: impl Stream<Item = T>) -> Vec<T> {
    block_on(stream.collect())
}

pub(crate) fn main() {
    assert_eq!(all(load(SourceType::Disk)), [Ok(1), Err(Gone)]);
    assert_eq!(all(sizes()), [1, 2]);
    assert_eq!(all(block_on(fetch())), [1, 2]);
    assert_eq!(all(make()), [1, 2]);
}
