use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", labels(String = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
