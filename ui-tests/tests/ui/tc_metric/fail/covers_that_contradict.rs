use tracecast::{tc_metric, tc_span};

#[tc_span("StoreDaemon/Load", future)]
#[tc_metric(calls = "tc_loads_total", construct)]
fn load() -> impl Future<Output = usize> {
    std::future::ready(4)
}

fn main() {
    drop(load());
}
