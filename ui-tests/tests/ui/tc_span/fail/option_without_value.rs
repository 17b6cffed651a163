use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", kind)]
fn load() {}

fn main() {
    load();
}
