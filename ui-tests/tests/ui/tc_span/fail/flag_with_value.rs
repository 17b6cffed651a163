use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", no_err = true)]
fn load() {}

fn main() {
    load();
}
