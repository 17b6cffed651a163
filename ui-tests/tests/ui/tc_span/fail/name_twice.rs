use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", "StoreDaemon/Fetch")]
fn load() {}

fn main() {
    load();
}
