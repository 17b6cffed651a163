use tracecast::tc_metric;

#[tc_metric(items = "tc_sizes_total")]
fn sizes() -> Vec<u32> {
    vec![1, 2]
}

fn main() {
    sizes();
}
