use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", labels = tracecast::keys::tensor::source)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
