use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", result(tracecast::keys::size_bytes = 4))]
fn load() -> u64 {
    4
}

fn main() {
    load();
}
