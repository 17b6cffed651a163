use tracecast::tc_span;

#[tc_span("StoreDaemon/Load")]
pub enum Source {
    Disk,
}

fn main() {
    let _ = Source::Disk;
}
