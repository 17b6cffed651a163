use tracecast::{keys, tc_metrics};

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source, keys::tensor::artifact)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::tensor::SourceType::Disk, "llama"));
}
