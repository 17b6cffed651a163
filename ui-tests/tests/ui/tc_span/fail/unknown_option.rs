use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", atrs(tracecast::keys::tensor::artifact = "llama"))]
fn load() {}

fn main() {
    load();
}
