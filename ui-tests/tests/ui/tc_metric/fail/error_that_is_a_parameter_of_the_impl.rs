use tracecast::tc_metric;

struct Store<Failure>(Failure);

impl<Failure> Store<Failure> {
    #[tc_metric(calls = "tc_loads_total")]
    fn load(self) -> Result<usize, Failure> {
        Err(self.0)
    }
}

fn main() {
    drop(Store(4).load());
}
