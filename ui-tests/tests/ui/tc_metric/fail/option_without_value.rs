use tracecast::tc_metric;

#[tc_metric(calls)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
