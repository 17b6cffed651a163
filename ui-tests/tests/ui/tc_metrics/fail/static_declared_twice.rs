use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total";
    static LOADS: Counter = "tc_reloads_total";
}

fn main() {
    LOADS.add(1, ());
}
