use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", buckets = [0.1, 1])]
fn load() -> usize {
    4
}

fn main() {
    load();
}
