use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
struct Replica;

fn main() {
    let _ = Replica;
}
