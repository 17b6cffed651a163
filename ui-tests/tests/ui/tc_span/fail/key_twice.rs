use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::tensor::artifact = id, tracecast::keys::tensor::artifact = "llama"))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
