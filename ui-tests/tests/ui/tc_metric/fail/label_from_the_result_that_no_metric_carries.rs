use tracecast::tc_metric;

#[tc_metric(in_flight = "tc_loads_active", labels(tracecast::keys::device = |size| *size))]
fn load() -> u32 {
    4
}

fn main() {
    load();
}
