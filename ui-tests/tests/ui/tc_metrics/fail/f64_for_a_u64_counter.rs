use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total";
}

fn main() {
    LOADS.add(0.5, ());
}
