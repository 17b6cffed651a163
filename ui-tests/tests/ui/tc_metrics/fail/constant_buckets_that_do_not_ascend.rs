use tracecast::tc_metrics;

const BOUNDS: &[f64] = &[0.1, 5.0, 1.0];

tc_metrics! {
    static LATENCY: Histogram = "tc_load_seconds" { buckets: BOUNDS };
}

fn main() {
    LATENCY.record(0.5, ());
}
