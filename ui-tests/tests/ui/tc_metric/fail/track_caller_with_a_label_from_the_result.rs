use tracecast::tc_metric;

#[track_caller]
#[tc_metric(calls = "tc_loads_total", labels(tracecast::keys::device = |size| *size))]
fn load() -> u32 {
    4
}

fn main() {
    load();
}
