use std::future::Future;

use tracecast::tc_span;

#[tc_span("StoreDaemon/Size", stream)]
fn size() -> impl Future<Output = u64> {
    async { 4 }
}

fn main() {
    drop(size());
}
