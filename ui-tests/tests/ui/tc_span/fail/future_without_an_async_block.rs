use std::future::Future;

use tracecast::tc_span;

async fn inner() -> u64 {
    4
}

#[tc_span("StoreDaemon/Size")]
fn size() -> impl Future<Output = u64> {
    inner()
}

fn main() {
    drop(size());
}
