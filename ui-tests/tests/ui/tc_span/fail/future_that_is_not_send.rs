use std::rc::Rc;

use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
async fn load() -> usize {
    let local = Rc::new(4);
    std::future::ready(()).await;
    *local
}

fn spawn(_: impl Future<Output = usize> + Send) {}

fn main() {
    spawn(load());
}
