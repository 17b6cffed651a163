use tracecast::tc_metric;

#[tc_metric(duration = "tc_load_seconds_total")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
