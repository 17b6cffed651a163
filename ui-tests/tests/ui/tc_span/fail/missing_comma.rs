use tracecast::tc_span;

#[tc_span("StoreDaemon/Load" kind = client)]
fn load() {}

fn main() {
    load();
}
