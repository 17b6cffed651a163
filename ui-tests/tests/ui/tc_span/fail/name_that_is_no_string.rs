use tracecast::tc_span;

#[tc_span(7)]
fn load() {}

fn main() {
    load();
}
