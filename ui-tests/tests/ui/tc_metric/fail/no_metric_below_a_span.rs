use tracecast::{tc_metric, tc_span};

#[tc_span("StoreDaemon/Load")]
#[tc_metric]
fn load() -> usize {
    4
}

fn main() {
    load();
}
