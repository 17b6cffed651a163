use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Summary = "tc_load_seconds";
}

fn main() {
    LOADS.add(1, ());
}
