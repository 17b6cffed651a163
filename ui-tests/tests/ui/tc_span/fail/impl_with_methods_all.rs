use tracecast::tc_span;

struct Store;

#[tc_span(component = "StoreDaemon", methods = all)]
impl Store {
    #[tc_span]
    fn load(&self) {}
}

fn main() {
    Store.load();
}
