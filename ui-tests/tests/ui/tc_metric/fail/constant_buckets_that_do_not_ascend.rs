use tracecast::tc_metric;

const BOUNDS: &[f64] = &[0.1, 5.0, 1.0];

#[tc_metric(duration = "tc_load_seconds", buckets = BOUNDS)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
