use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram = "tc_load_seconds_total";
}

fn main() {
    LATENCY.record(0.5, ());
}
