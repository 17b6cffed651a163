use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::artifact = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
