use tracecast::keys::tensor::SourceType;
use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::source = SourceType::Remot))]
fn load() {}

fn main() {
    load();
}
