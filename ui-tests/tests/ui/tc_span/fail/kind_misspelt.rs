use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", kind = cleint)]
fn load() {}

fn main() {
    load();
}
