use tracecast::tc_metrics;

tc_metrics! {
    static ACTIVE: UpDownCounter = "tc_loads_active_total";
}

fn main() {
    ACTIVE.add(1, ());
}
