use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", lables(tracecast::keys::device = 3_u32))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
