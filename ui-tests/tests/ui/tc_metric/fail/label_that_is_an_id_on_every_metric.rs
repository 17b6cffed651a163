use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", duration = "tc_load_seconds", in_flight = "tc_loads_active",
            labels(keys::tensor::artifact = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
