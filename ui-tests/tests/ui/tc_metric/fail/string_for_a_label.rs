use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = from.to_owned()))]
fn load(from: &str) -> usize {
    from.len()
}

fn main() {
    load("disk");
}
