use futures::Stream;
use tracecast::tc_metric;

#[tc_metric(calls = "tc_sizes_total", stream, labels(tracecast::keys::device = |size| *size))]
fn sizes() -> impl Stream<Item = u32> {
    futures::stream::iter([1, 2])
}

fn main() {
    drop(sizes());
}
