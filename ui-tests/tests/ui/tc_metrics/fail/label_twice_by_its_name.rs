use tracecast::{keys, tc_keys, tc_metrics};

tc_keys! {
    label origin: keys::tensor::SourceType = "tc.source.type";
}

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source, origin)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::tensor::SourceType::Disk, keys::tensor::SourceType::Disk));
}
