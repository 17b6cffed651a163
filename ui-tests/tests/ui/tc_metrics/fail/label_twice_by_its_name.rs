use tracecast::{keys, tc_keys, tc_metrics};

tc_keys! {
    label origin: keys::SourceType = "tc.source.type";
}

tc_metrics! {
    static LOADS: Counter<(keys::source, origin)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (keys::SourceType::Disk, keys::SourceType::Disk));
}
