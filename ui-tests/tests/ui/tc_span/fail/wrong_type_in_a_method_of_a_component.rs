use tracecast::{keys, tc_span};

struct Store;

#[tc_span(component = "StoreDaemon")]
impl Store {
    #[tc_span(attrs(keys::size_bytes = id))]
    async fn load(&self, id: &str) -> usize {
        id.len()
    }
}

fn main() {
    drop(Store.load("llama"));
}
