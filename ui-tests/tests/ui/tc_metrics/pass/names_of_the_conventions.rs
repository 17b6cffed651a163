use tracecast::tc_metrics;

tc_metrics! {
    static DURATION: Histogram = "http.server.request.duration" { unit: "s" };
    static ACTIVE: UpDownCounter = "http.server.active_requests" { unit: "{request}" };
    static ENERGY: Counter<(), f64> = "hw.energy" { unit: "J" };
    static UTILIZATION: Gauge = "hw.gpu.utilization" { unit: "1" };
}

pub(crate) fn main() {
    DURATION.record(0.5, ());
    ACTIVE.add(1, ());
    ENERGY.add(1.0, ());
    UTILIZATION.set(0.5, ());
}
