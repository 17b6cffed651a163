use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter<(String,)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, ("llama",));
}
