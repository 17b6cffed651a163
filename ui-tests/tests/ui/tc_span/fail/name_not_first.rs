use tracecast::tc_span;

#[tc_span(kind = client, "StoreDaemon/Load")]
fn load() {}

fn main() {
    load();
}
