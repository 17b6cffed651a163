use tracecast::tc_metric;

#[tc_metric(labels(tracecast::keys::device = 3_u32))]
fn load() -> usize {
    4
}

fn main() {
    load();
}
