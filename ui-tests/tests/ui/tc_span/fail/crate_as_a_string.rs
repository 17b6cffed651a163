use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", crate = "tracecast")]
fn load() {}

fn main() {
    load();
}
