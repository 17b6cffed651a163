use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::artifact))]
fn load(artifact: &str) -> usize {
    artifact.len()
}

fn main() {
    load("llama");
}
