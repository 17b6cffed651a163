use tracecast::tc_metric;

#[tc_metric(in_flight = "tc_loads_active_total")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
