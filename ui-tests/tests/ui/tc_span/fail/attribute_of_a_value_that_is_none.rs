use tracecast::tc_span;

struct Artifact<'a>(&'a str);

#[tc_span("StoreDaemon/Load", attrs("tc.artifact" = Artifact(id)))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
