use tracecast::tc_span;

#[tc_span(component = "StoreDaemon")]
fn load() {}

fn main() {
    load();
}
