use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", share("tc.artifact.id" = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
