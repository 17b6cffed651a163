use tracecast::{keys, tc_keys, tc_metrics};

tc_keys! {
    label shard: Index<63> = "tc.shard.id";
}

tc_metrics! {
    static LATENCY: Histogram<(keys::tensor::source, shard)> = "tc_load_seconds";
}

fn main() {
    LATENCY.record(0.5, (keys::tensor::SourceType::Disk, 3_u32));
}
