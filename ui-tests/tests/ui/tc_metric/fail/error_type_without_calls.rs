use tracecast::tc_metric;

#[tc_metric(duration = "tc_load_seconds", error_type = std::io::Error)]
fn load() -> std::io::Result<usize> {
    Ok(4)
}

fn main() {
    drop(load());
}
