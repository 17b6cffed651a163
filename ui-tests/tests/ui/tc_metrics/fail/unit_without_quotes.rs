use tracecast::tc_metrics;

tc_metrics! {
    static BYTES: Counter = "tc_p2p_bytes_total" { unit: By };
}

fn main() {
    BYTES.add(1, ());
}
