use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", result(String = |size| *size))]
fn load(id: &str) -> usize {
    id.len()
}

fn main() {
    load("llama");
}
