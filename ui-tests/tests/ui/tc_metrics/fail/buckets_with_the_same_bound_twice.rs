use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram = "tc_load_seconds" { buckets: [0.1, 1, 1.0] };
}

fn main() {
    LATENCY.record(0.5, ());
}
