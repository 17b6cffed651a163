use tracecast::tc_metric;

#[tc_metric(duration = "tc_load_seconds", exponential, buckets = [0.1, 1])]
fn load() -> usize {
    4
}

fn main() {
    load();
}
