use tracecast::tc_metrics;

tc_metrics! {
    static DURATION: Histogram = "http.server.requestDuration" { unit: "s" };
}

fn main() {
    DURATION.record(0.5, ());
}
