use tracecast::tc_span;

#[tc_span("Größe/Lesen")]
fn read() {}

fn main() {
    read();
}
