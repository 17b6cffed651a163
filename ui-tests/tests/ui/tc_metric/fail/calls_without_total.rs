use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
