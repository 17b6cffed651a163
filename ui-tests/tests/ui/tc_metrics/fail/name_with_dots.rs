use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc.loads.total";
}

fn main() {
    LOADS.add(1, ());
}
