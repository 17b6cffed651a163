use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::source = form))]
fn load(from: keys::SourceType) -> usize {
    from as usize
}

fn main() {
    load(keys::SourceType::Disk);
}
