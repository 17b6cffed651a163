use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = loads_total;
}

fn main() {
    LOADS.add(1, ());
}
