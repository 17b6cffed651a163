use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_total_loads_total";
}

fn main() {
    LOADS.add(1, ());
}
