use tracecast::tc_metric;

#[tc_metric(call = "tc_loads_total")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
