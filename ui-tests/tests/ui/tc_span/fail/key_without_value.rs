use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs(tracecast::keys::artifact))]
fn load(artifact: &str) -> usize {
    artifact.len()
}

fn main() {
    load("llama");
}
