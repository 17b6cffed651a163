use tracecast::{keys, tc_metric};

struct Replica {
    from: keys::tensor::SourceType,
}

#[tc_metric(calls = "tc_loads_total", labels(keys::tensor::source = |_| replica.from))]
async fn load(replica: Replica) -> usize {
    drop(replica);
    4
}

fn main() {
    drop(load(Replica { from: keys::tensor::SourceType::Disk }));
}
