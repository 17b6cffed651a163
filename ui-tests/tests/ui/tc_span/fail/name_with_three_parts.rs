use tracecast::tc_span;

#[tc_span("StoreDaemon/Replica/Load")]
fn load() {}

fn main() {
    load();
}
