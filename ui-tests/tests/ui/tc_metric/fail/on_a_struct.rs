use tracecast::tc_metric;

#[tc_metric(calls = "tc_loads_total")]
struct Replica;

fn main() {
    let _ = Replica;
}
