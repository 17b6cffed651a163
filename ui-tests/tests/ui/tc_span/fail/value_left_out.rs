use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::artifact = ))]
fn load() {}

fn main() {
    load();
}
