use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::tensor::artifact))]
fn load(artifact: &str) -> usize {
    artifact.len()
}

fn main() {
    load("llama");
}
