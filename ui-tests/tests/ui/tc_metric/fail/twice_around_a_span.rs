use tracecast::{tc_metric, tc_span};

#[tc_metric(calls = "tc_loads_total")]
#[tc_span("StoreDaemon/Load")]
#[tc_metric(duration = "tc_load_seconds")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
