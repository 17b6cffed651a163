use tracecast::tc_metric;

#[tc_metric(in_flight = "tc_load_bytes")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
