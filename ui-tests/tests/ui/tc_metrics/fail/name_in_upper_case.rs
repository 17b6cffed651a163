use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_Loads_total";
}

fn main() {
    LOADS.add(1, ());
}
