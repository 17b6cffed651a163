use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::sorce = keys::tensor::SourceType::Disk))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
