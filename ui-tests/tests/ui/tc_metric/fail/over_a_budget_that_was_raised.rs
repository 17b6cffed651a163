use tracecast::{keys, tc_keys, tc_metric};

tc_keys! {
    label shard: Index<63> = "tc.shard.id";
}

#[tc_metric(calls = "tc_loads_total",
            labels(keys::tensor::source = keys::tensor::SourceType::Disk, keys::device = 3_u32, shard = 5_u32), budget = 8000)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
