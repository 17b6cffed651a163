//! As many series as the budget allows are not too many.

use tracecast::{keys, tc_keys, tc_metrics};

tc_keys! {
    label shard: Index<999> = "tc.shard.id";
}

tc_metrics! {
    static MOVES: Counter<(keys::tensor::source, keys::location, keys::device)> = "tc_moves_total" { budget: 68 };
    static SHARDS: Counter<(keys::tensor::source, shard)> = "tc_shards_total";
    static LATENCY: Histogram<(keys::device,)> = "tc_load_seconds" { budget: 102, buckets: [0.1, 1, 10] };
    static SIZE: Histogram<(keys::device,)> = "tc_replica_bytes" { exponential, budget: 17 };
    static LOADS: Counter = "tc_loads_total" { budget: 1 };
}

pub(crate) fn main() {
    let all =
        [MOVES.declaration(), SHARDS.declaration(), LATENCY.declaration(), SIZE.declaration(), LOADS.declaration()];
    assert_eq!(all.map(|metric| metric.series()), [68, 2000, 102, 17, 1]);
    assert_eq!(all.map(|metric| metric.budget), [68, 2000, 102, 17, 1]);
}
