use futures::stream::BoxStream;
use tracecast::tc_span;

#[tc_span("StoreDaemon/Sizes", stream)]
async fn sizes() -> BoxStream<'static, u64> {
    Box::pin(futures::stream::iter([1, 2]))
}

fn main() {
    drop(sizes());
}
