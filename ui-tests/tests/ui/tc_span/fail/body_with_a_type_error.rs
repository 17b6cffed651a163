use tracecast::tc_span;

#[tc_span("StoreDaemon/Size")]
fn size() -> u64 {
    "four"
}

fn main() {
    size();
}
