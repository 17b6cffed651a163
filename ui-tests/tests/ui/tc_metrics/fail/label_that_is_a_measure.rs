use tracecast::{keys, tc_metrics};

tc_metrics! {
    static LOADS: Counter<(keys::size_bytes,)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (4096_u64,));
}
