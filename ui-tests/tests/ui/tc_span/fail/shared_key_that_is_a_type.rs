use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", share(String = id))]
async fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    drop(load("llama"));
}
