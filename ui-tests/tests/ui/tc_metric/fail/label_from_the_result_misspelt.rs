use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", duration = "tc_load_seconds", labels(keys::tensor::sorce = |_| keys::tensor::SourceType::Disk))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
