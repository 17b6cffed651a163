use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = |from| from.clone()))]
fn load() -> String {
    String::from("disk")
}

fn main() {
    load();
}
