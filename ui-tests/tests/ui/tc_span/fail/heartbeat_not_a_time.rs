use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", heartbeat = "3 parsecs")]
fn load() {}

fn main() {
    load();
}
