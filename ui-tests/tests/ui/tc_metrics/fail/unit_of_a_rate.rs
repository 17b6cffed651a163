use tracecast::tc_metrics;

tc_metrics! {
    static RATE: Gauge = "tc_p2p_bytes_per_second" { unit: "By/s" };
}

fn main() {
    RATE.set(1, ());
}
