use tracecast::tc_span;

#[tc_span("load replica")]
fn load() {}

fn main() {
    load();
}
