use std::future::Future;
use std::pin::Pin;

use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", future)]
#[track_caller]
fn load() -> Pin<Box<dyn Future<Output = u64>>> {
    Box::pin(std::future::ready(4))
}

fn main() {
    drop(load());
}
