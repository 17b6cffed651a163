use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", budget = 0)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
