use std::future::Ready;

use tracecast::tc_span;

#[tc_span("StoreDaemon/Size", future)]
fn size() -> Ready<u64> {
    std::future::ready(4)
}

fn main() {
    drop(size());
}
