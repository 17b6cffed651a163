use tracecast::tc_metric;

#[tc_metric(first_item = "tc_first_size_seconds")]
fn load() -> usize {
    4
}

fn main() {
    load();
}
