use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
#[tc_span("StoreDaemon/Fetch")]
fn load() {}

fn main() {
    load();
}
