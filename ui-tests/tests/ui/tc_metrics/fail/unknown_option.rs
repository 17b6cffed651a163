use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total" { budgt: 5000 };
}

fn main() {
    LOADS.add(1, ());
}
