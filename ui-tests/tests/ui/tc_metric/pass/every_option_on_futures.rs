//! All options on functions that return a future.

#![deny(dead_code, unused_imports, unused_variables)]

use std::io;
use std::pin::Pin;

use futures::executor::block_on;
use tracecast::keys::{device, tensor::{SourceType, source}};
use tracecast::tc_metric;

const BOUNDS: &[f64] = &[0.1, 1.0];

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total", duration = "tc_load_seconds",
            in_flight = "tc_loads_active", labels(source = from, device = |size| *size), budget = 5000,
            buckets = BOUNDS, error_type = io::Error, crate = tracecast)]
async fn load(from: SourceType) -> io::Result<u32> {
    std::future::ready(Ok(from as u32)).await
}

#[tc_metric(calls = "tc_sizes_total", duration = "tc_size_seconds", exponential, no_err)]
fn size(id: &str) -> impl Future<Output = usize> {
    async move { id.len() }
}

#[tc_metric(future, calls = "tc_fetches_total", labels(device = |size| *size), error_type = none)]
fn fetch() -> Pin<Box<dyn Future<Output = Result<u32, String>> + Send>> {
    let fetched = std::future::ready(Ok(4));
    Box::pin(fetched)
}

#[tc_metric(duration = "tc_make_seconds", construct)]
fn make() -> impl Future<Output = u32> {
    std::future::ready(4)
}

pub(crate) fn main() {
    assert_eq!(block_on(load(SourceType::Disk)).unwrap(), 1);
    assert_eq!(block_on(size("llama")), 5);
    assert_eq!(block_on(fetch()), Ok(4));
    assert_eq!(block_on(make()), 4);
}
