use tracecast::keys::SourceType;
use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::source = SourceType::Remot))]
fn load() {}

fn main() {
    load();
}
