use tracecast::{keys, tc_metric};

struct Replica {
    from: keys::tensor::SourceType,
}

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = |replica| replica.form))]
fn load() -> Replica {
    Replica { from: keys::tensor::SourceType::Disk }
}

fn main() {
    load();
}
