use futures::Stream;
use tracecast::tc_metric;

#[tc_metric(items = "tc_sizes_total")]
fn sizes() -> impl Stream<Item = u32> {
    futures::stream::iter([1, 2])
}

fn main() {
    drop(sizes());
}
