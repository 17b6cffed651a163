use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs = keys::artifact)]
fn load() {}

fn main() {
    load();
}
