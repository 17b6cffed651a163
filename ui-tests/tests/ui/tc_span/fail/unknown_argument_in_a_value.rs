use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::artifact = artefact))]
fn load(artifact: &str) -> usize {
    artifact.len()
}

fn main() {
    load("llama");
}
