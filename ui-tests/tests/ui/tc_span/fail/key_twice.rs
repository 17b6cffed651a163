use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::artifact = id, tracecast::keys::artifact = "llama"))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
