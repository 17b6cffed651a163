use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", parent = 5)]
fn load() {}

fn main() {
    load();
}
