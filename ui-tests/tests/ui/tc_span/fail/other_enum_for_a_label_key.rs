use tracecast::keys;
use tracecast::prelude::*;

#[derive(Clone, Copy, TcLabel)]
enum Disk {
    Ssd,
}

#[tc_span("StoreDaemon/Load", attrs(keys::tensor::source = Disk::Ssd))]
fn load() {}

fn main() {
    load();
}
