use tracecast::tc_metric;

struct Store;

#[tc_metric(calls = "tc_loads_total")]
impl Store {
    fn load(&self) {}
}

fn main() {
    Store.load();
}
