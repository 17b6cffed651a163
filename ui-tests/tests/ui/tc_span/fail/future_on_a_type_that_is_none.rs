use tracecast::tc_span;

struct Replica;

#[tc_span("StoreDaemon/Load", future)]
fn load() -> Replica {
    Replica
}

fn main() {
    load();
}
