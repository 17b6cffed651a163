use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "";
}

fn main() {
    LOADS.add(1, ());
}
