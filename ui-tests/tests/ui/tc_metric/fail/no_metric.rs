use tracecast::tc_metric;

#[tc_metric]
fn load() -> usize {
    4
}

fn main() {
    load();
}
