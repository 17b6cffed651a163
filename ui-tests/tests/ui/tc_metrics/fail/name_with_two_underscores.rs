use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_cache__loads_total";
}

fn main() {
    LOADS.add(1, ());
}
