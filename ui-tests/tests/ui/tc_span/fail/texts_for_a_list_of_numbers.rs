use tracecast::tc_span;

tracecast::tc_keys! {
    pub id names: [str] = "tc.names";
    pub measure sizes: [u64] = "tc.sizes";
}

#[tc_span("StoreDaemon/Load", attrs(sizes = [id]))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
