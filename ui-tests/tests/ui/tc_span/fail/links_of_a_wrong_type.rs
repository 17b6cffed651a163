use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", links("x"))]
fn load() {}

fn main() {
    load();
}
