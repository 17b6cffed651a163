use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram = "tc_seconds";
}

fn main() {
    LATENCY.record(0.5, ());
}
