use tracecast::prelude::*;

#[tc_span("StoreDaemon/Load", busy)]
fn load() -> u8 {
    1
}

#[tc_span("StoreDaemon/Open", busy = true)]
async fn open() {}

#[tc_span("StoreDaemon/Make", construct, busy)]
fn make() -> impl Future<Output = ()> {
    async {}
}

fn main() {}
