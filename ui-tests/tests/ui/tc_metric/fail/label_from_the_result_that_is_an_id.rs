use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::artifact = |id| id.as_str()))]
fn load() -> String {
    String::from("llama")
}

fn main() {
    load();
}
