use tracecast::{keys, tc_metric};

#[tc_metric(in_flight = "tc_loads_active", labels(keys::device = 3_u32), budget = 16)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
