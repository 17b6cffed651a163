use tracecast::tc_span;

#[tc_span(db(system = "postgresql", operation = "select"))]
fn load() {}

fn main() {
    load();
}
