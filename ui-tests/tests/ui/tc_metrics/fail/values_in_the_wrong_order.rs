use tracecast::{keys, tc_metrics};

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source, keys::device)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (3_u32, keys::tensor::SourceType::Disk));
}
