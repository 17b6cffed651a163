use tracecast::tc_metrics;

tc_metrics! {
    const LOADS: Counter = "tc_loads_total";
}

fn main() {
    LOADS.add(1, ());
}
