use tracecast::tc_span;

#[tc_span(name = "StoreDaemon/Load")]
fn load() {}

fn main() {
    load();
}
