use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::device = |device| *device), budget = 71)]
fn load() -> u32 {
    4
}

fn main() {
    load();
}
