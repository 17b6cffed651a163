use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter<(), i64> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, ());
}
