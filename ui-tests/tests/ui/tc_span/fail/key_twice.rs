use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::artifact = id, keys::artifact = "llama"))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
