use tracecast::tc_span;

const NAME: &str = "StoreDaemon/Load";

#[tc_span(NAME)]
fn load() {}

fn main() {
    load();
    println!("{NAME}");
}
