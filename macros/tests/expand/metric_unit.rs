#[tc_metric(in_flight = "tc_loads_in_flight", duration = "tc_load_seconds", exponential)]
fn load(id: u64) {
    fetch(id)
}
