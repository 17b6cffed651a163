use tracecast::tc_span;

#[tc_span("StoreDaemon/Size", future)]
fn size() -> u64 {
    4
}

fn main() {
    size();
}
