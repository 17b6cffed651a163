use futures::Stream;
use tracecast::tc_span;

fn inner() -> impl Stream<Item = u64> {
    futures::stream::iter([1, 2])
}

#[tc_span("StoreDaemon/Sizes")]
async fn sizes() -> impl Stream<Item = u64> {
    inner()
}

fn main() {
    drop(sizes());
}
