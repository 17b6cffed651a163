use tracecast::tc_span;

#[tc_span("StoreDaemon/Size", future)]
async fn size() -> u64 {
    4
}

fn main() {
    drop(size());
}
