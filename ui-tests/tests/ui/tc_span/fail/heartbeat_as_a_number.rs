use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", heartbeat = 30)]
fn load() {}

fn main() {
    load();
}
