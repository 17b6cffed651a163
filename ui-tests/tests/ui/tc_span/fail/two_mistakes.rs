use tracecast::tc_span;

#[tc_span("store/load", kind = cleint)]
fn load() {}

fn main() {
    load();
}
