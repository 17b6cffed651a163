use tracecast::{keys, tc_metric};

struct Replica {
    from: keys::SourceType,
}

#[tc_metric(calls = "tc_loads_total", labels(keys::source = |_| replica.from))]
fn load(replica: Replica) -> usize {
    drop(replica);
    4
}

fn main() {
    load(Replica { from: keys::SourceType::Disk });
}
