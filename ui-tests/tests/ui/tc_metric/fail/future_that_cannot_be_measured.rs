use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total", future)]
fn load() -> std::future::Ready<usize> {
    std::future::ready(4)
}

fn main() {
    drop(load());
}
