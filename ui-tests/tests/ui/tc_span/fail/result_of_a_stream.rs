use futures::Stream;
use tracecast::tc_span;

#[tc_span("StoreDaemon/Sizes", stream, result(tracecast::keys::size_bytes = |size| *size))]
fn sizes() -> impl Stream<Item = u64> {
    futures::stream::iter([1, 2])
}

fn main() {
    drop(sizes());
}
