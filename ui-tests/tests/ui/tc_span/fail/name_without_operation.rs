use tracecast::tc_span;

#[tc_span("StoreDaemon/")]
fn load_replica() {}

fn main() {
    load_replica();
}
