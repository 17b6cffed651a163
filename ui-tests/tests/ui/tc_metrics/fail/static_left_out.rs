use tracecast::tc_metrics;

tc_metrics! {
    pub LOADS: Counter = "tc_loads_total";
}

fn main() {
    LOADS.add(1, ());
}
