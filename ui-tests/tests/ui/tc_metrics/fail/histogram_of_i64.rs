use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram<(), i64> = "tc_load_seconds";
}

fn main() {
    LATENCY.record(0.5, ());
}
