use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total")]
const fn load() -> usize {
    4
}

fn main() {
    load();
}
