use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::tensor::artifact = ))]
fn load() {}

fn main() {
    load();
}
