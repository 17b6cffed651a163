use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
trait Store {
    fn load(&self);
}

impl Store for u64 {
    fn load(&self) {}
}

fn main() {
    4_u64.load();
}
