use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::artifact = [id]))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
