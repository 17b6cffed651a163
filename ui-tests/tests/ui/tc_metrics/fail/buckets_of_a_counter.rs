use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads_total" { buckets: [1, 10] };
}

fn main() {
    LOADS.add(1, ());
}
