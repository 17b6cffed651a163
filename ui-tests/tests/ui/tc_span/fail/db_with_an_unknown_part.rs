use tracecast::tc_span;

#[tc_span(db(system = "postgresql", collection = "replicas", operation = "select", qeury = "select 1"))]
fn load() {}

fn main() {
    load();
}
