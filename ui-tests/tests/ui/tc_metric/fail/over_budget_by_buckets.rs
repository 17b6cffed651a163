use tracecast::{keys, tc_keys, tc_metric};

tc_keys! {
    label shard: Index<15> = "tc.shard.id";
}

#[tc_metric(duration = "tc_load_seconds", labels(keys::device = 3_u32, shard = 5_u32))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
