use tracecast::tc_metric;

#[tc_metric(per_item = "tc_size_seconds")]
async fn load() -> usize {
    4
}

fn main() {
    drop(load());
}
