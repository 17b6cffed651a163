use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", announce = 30)]
fn load() {}

fn main() {
    load();
}
