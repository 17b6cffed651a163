use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram = "tc_load_seconds" { buckets: [0.1, 2.0 * 0.5] };
}

fn main() {
    LATENCY.record(0.5, ());
}
