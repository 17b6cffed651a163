use tracecast::tc_span;

#[tc_span("StoreDaemon/Sizes", stream)]
fn sizes() -> Vec<u64> {
    vec![4]
}

fn main() {
    sizes();
}
