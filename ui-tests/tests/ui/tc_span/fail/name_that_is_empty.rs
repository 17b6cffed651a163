use tracecast::tc_span;

#[tc_span("")]
fn load_replica() {}

fn main() {
    load_replica();
}
