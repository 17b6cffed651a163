use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::size_bytes = -1_i64))]
fn load() {}

fn main() {
    load();
}
