use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Countr = "tc_loads_total";
}

fn main() {
    LOADS.add(1, ());
}
