use tracecast::{keys, tc_metrics};

tc_metrics! {
    static LATENCY: Histogram<(keys::tensor::source, keys::device)> = "tc_load_seconds" { buckets: [0.1, 1, 10], budget: 200 };
}

fn main() {
    LATENCY.record(0.5, (keys::tensor::SourceType::Disk, 3_u32));
}
