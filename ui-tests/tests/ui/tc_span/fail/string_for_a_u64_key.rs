use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::size_bytes = size))]
fn load(size: String) -> usize {
    size.len()
}

fn main() {
    load(String::new());
}
