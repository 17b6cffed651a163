use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total")]
async fn load() -> Result<usize, String> {
    Ok("four")
}

fn main() {
    drop(load());
}
