use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::artifact = id))]
async fn load(id: u64) -> u64 {
    id
}

fn main() {
    drop(load(4));
}
