//! With a span in both orders, and options that both attributes know in either of them.

#![deny(dead_code, unused_imports, unused_variables)]

use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use tracecast::keys::{device, tensor::artifact};
use tracecast::{tc_metric, tc_span};

#[tc_span("StoreDaemon/Load", attrs(artifact = id))]
#[tc_metric(calls = "tc_loads_total", labels(device = |size| *size))]
fn load(id: &str) -> Result<u32, String> {
    id.parse().map_err(|_| id.to_owned())
}

#[tc_metric(calls = "tc_fetches_total", labels(device = id.len() as u32))]
#[tc_span("StoreDaemon/Fetch", attrs(artifact = id))]
async fn fetch(id: &str) -> Result<usize, String> {
    Ok(id.len())
}

#[tc_span("StoreDaemon/Sizes", stream)]
#[tc_metric(items = "tc_sizes_total")]
fn sizes() -> impl Stream<Item = u32> {
    stream::iter([1, 2])
}

#[tc_metric(duration = "tc_make_seconds", future, no_err)]
#[tc_span("StoreDaemon/Make")]
fn make() -> impl Future<Output = u32> {
    std::future::ready(4)
}

struct Store;

#[tc_span(component = "Store")]
impl Store {
    #[tc_span]
    #[tc_metric(calls = "tc_opens_total")]
    fn open(&self) -> u32 {
        4
    }

    #[tc_metric(calls = "tc_closes_total")]
    #[tc_span]
    fn close(self) {}
}

pub(crate) fn main() {
    assert_eq!((load("4"), load("llama")), (Ok(4), Err("llama".to_owned())));
    assert_eq!(block_on(fetch("llama")), Ok(5));
    assert_eq!(block_on(sizes().collect::<Vec<_>>()), [1, 2]);
    assert_eq!(block_on(make()), 4);
    assert_eq!(Store.open(), 4);
    Store.close();
}
