use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs("tc.artifact.id": String = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
