use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total" { unit: "loads" };
}

fn main() {
    LOADS.add(1, ());
}
