use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total" { budget: 0 };
}

fn main() {
    LOADS.add(1, ());
}
