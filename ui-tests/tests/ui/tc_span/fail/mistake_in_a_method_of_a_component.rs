use tracecast::tc_span;

struct Store;

#[tc_span(component = "StoreDaemon")]
impl Store {
    #[tc_span(kind = cleint)]
    fn load(&self) {}
}

fn main() {
    Store.load();
}
