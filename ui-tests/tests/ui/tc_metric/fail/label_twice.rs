use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", labels(tracecast::keys::device = 3_u32, tracecast::keys::device = 4_u32))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
