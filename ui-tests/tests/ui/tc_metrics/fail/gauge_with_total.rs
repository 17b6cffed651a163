use tracecast::tc_metrics;

tc_metrics! {
    static FREE: Gauge = "tc_pool_free_total";
}

fn main() {
    FREE.set(1, ());
}
