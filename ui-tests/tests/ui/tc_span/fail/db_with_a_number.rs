use tracecast::tc_span;

#[tc_span(db(system = "postgresql", collection = 4, operation = "select"))]
fn load() {}

fn main() {
    load();
}
