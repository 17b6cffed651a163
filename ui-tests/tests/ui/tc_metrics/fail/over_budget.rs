use tracecast::{keys, tc_keys, tc_metrics};

tc_keys! {
    label shard: Index<63> = "tc.shard.id";
}

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source, keys::device, shard)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::tensor::SourceType::Disk, 3_u32, 5_u32));
}
