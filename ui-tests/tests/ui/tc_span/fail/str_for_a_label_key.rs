use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::source = source))]
fn load(source: &str) -> usize {
    source.len()
}

fn main() {
    load("disk");
}
