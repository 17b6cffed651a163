use tracecast::{keys, tc_metric};

type Gpu = keys::device;

#[tc_metric(calls = "tc_loads_total", labels(keys::device = 3_u32, Gpu = 4_u32))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
