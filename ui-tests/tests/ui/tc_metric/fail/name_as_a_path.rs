use tracecast::tc_metric;

const NAME: &str = "tc_loads_total";

#[tc_metric(calls = NAME)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
