use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", errors = "tc_load_errors_total")]
fn load() -> Result<usize, StoreError> {
    Ok(4)
}

fn main() {
    drop(load());
}
