use tracecast::{keys, tc_metric};

struct Replica {
    from: keys::SourceType,
}

#[tc_metric(calls = "tc_loads_total", labels(keys::source = |replica| replica.form))]
fn load() -> Replica {
    Replica { from: keys::SourceType::Disk }
}

fn main() {
    load();
}
