use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", labels("tc.source.type" = tracecast::keys::tensor::SourceType::Disk))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
