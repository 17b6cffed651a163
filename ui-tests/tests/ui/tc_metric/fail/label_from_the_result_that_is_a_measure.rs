use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::size_bytes = |size| *size))]
fn load() -> u64 {
    4096
}

fn main() {
    load();
}
