use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter = "tc_loads";
    static FREE: Gauge = "tc_pool_free_bytes";
}

fn main() {
    LOADS.add(1, ());
    FREE.set(1, ());
}
