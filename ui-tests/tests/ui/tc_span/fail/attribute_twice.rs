use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs("tc.artifact.id" = id, "tc.artifact.id" = id.len()))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
