use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::size_bytes = bytes))]
fn load(bytes: u64) -> u64 {
    bytes
}

fn main() {
    load(4096);
}
