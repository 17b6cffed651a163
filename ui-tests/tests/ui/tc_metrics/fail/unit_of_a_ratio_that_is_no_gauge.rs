use tracecast::tc_metrics;

tc_metrics! {
    static HITS: Histogram = "tc_cache_hit_ratio" { unit: "1" };
}

fn main() {
    HITS.record(0.5, ());
}
