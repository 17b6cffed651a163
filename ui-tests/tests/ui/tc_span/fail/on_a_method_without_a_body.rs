use tracecast::tc_span;

trait Store {
    #[tc_span("StoreDaemon/Load")]
    fn load(&self);
}

impl Store for u64 {
    fn load(&self) {}
}

fn main() {
    4_u64.load();
}
