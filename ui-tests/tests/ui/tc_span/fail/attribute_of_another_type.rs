use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs("tc.artifact.size": u64 = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
