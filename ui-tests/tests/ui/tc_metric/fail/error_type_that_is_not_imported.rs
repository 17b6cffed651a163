use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", error_type = StoreError)]
fn load() -> Result<usize, Box<dyn std::error::Error>> {
    Ok(4)
}

fn main() {
    drop(load());
}
