use tracecast::tc_metric;

const BOUNDS: &[u64] = &[1, 5];

#[tc_metric(duration = "tc_load_seconds", buckets = BOUNDS)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
