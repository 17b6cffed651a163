use tracecast::tc_metrics;

tc_metrics! {
    static ACTIVE: UpDownCounter = "tc_loads_active";
}

fn main() {
    ACTIVE.add(1_u64, ());
}
