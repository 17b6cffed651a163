use tracecast::tc_metrics;

tc_metrics! {
    static LATENCY: Histogram = "tc_load_seconds" { unit: "ms" };
}

fn main() {
    LATENCY.record(0.5, ());
}
