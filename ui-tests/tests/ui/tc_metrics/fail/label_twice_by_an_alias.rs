use tracecast::{keys, tc_metrics};

type Origin = keys::tensor::source;

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source, Origin)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::tensor::SourceType::Disk, keys::tensor::SourceType::Disk));
}
