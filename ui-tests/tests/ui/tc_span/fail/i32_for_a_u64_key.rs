use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::size_bytes = -1_i32))]
fn load() {}

fn main() {
    load();
}
