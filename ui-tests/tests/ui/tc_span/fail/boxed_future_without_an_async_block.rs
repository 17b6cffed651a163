use std::future::Future;
use std::pin::Pin;

use tracecast::tc_span;

async fn inner() -> u64 {
    4
}

#[tc_span("StoreDaemon/Size")]
fn size() -> Pin<Box<dyn Future<Output = u64>>> {
    Box::pin(inner())
}

fn main() {
    drop(size());
}
