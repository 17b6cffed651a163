use tracecast::{keys, tc_metric};

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = |location| *location))]
fn load() -> keys::Location {
    keys::Location::Gpu
}

fn main() {
    load();
}
