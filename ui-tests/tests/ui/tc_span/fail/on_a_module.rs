use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
mod replica {
    pub fn load() {}
}

fn main() {
    replica::load();
}
