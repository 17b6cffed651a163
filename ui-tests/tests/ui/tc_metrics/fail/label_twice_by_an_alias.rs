use tracecast::{keys, tc_metrics};

type Origin = keys::source;

tc_metrics! {
    static LOADS: Counter<(keys::source, Origin)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::SourceType::Disk, keys::SourceType::Disk));
}
