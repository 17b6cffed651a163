use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", attrs("Tc.ArtifactId" = id))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
