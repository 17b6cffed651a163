use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = form))]
fn load(from: keys::tensor::SourceType) -> usize {
    from as usize
}

fn main() {
    load(keys::tensor::SourceType::Disk);
}
