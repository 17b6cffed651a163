use std::future::Future;

use tracecast::{keys, tc_span};

#[tc_span("StoreDaemon/Size", construct, result(keys::size_bytes = |size| *size))]
fn size() -> impl Future<Output = u64> {
    async { 4 }
}

fn main() {
    drop(size());
}
