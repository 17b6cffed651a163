use std::future::Future;

use tracecast::tc_span;

#[tc_span("StoreDaemon/Size", construct, result(tracecast::keys::size_bytes = |size| *size))]
fn size() -> impl Future<Output = u64> {
    async { 4 }
}

fn main() {
    drop(size());
}
