use tracecast::tc_metric;

async fn inner() -> usize {
    4
}

#[tc_metric(calls = "tc_loads_total")]
fn load() -> impl Future<Output = usize> {
    inner()
}

fn main() {
    drop(load());
}
