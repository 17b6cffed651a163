use tracecast::tc_metrics;

tc_metrics! {
    static DURATION: Histogram = "http.server.request.duration" { unit: "seconds" };
}

fn main() {
    DURATION.record(0.5, ());
}
