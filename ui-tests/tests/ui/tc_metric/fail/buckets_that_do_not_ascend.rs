use tracecast::tc_metric;

#[tc_metric(duration = "tc_load_seconds", buckets = [0.1, 5, 1.0])]
fn load() -> usize {
    4
}

fn main() {
    load();
}
