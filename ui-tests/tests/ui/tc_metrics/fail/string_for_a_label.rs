use tracecast::{keys, tc_metrics};

tc_metrics! {
    static LOADS: Counter<(keys::tensor::source,)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (String::from("disk"),));
}
