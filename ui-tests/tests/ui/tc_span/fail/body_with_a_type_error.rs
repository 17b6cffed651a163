use tracecast::tc_span;

#[tc_span("StoreDaemon/Size")]
fn size() -> u64 {
    "four"
}

#[tc_span("StoreDaemon/Size")]
async fn size_later() -> u64 {
    "four"
}

fn main() {
    size();
    drop(size_later());
}
