use tracecast::tc_span;

#[tc_span("StoreDaemon/Load", db(system = "postgresql", collection = "replicas", operation = "select"))]
fn load() {}

fn main() {
    load();
}
