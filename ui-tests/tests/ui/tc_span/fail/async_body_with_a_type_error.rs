use tracecast::tc_span;

#[tc_span("StoreDaemon/Size")]
async fn size() -> u64 {
    "four"
}

fn main() {
    drop(size());
}
