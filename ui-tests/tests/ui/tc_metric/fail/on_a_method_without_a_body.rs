use tracecast::tc_metric;

trait Store {
    #[tc_metric(calls = "tc_loads_total")]
    fn load(&self);
}

impl Store for () {
    fn load(&self) {}
}

fn main() {
    ().load();
}
