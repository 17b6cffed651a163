use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", kind = client, kind = server)]
fn load() {}

fn main() {
    load();
}
