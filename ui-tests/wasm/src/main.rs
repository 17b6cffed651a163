//! Records a span and counts in a program for WASI, where there are no threads and no sockets.

use std::time::Duration;

use tracecast::keys::{
    size_bytes,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::capture;

tc_metrics! {
    /// Bytes that were loaded.
    static LOADED: Counter<(source,)> = "tc_loaded_bytes_total";
}

#[tc_span("Wasm/Load", attrs(source = from), result(size_bytes = |bytes| bytes.len()))]
#[tc_metric(calls = "tc_loads_total", labels(source = from))]
fn load(name: &str, from: SourceType) -> Result<Vec<u8>, std::io::Error> {
    LOADED.add(name.len(), (from,));
    read(name)
}

#[tc_span("Wasm/Read")]
fn read(name: &str) -> Result<Vec<u8>, std::io::Error> {
    // Long enough for any clock to count.
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_millis(2) {}
    Ok(name.as_bytes().to_vec())
}

fn main() {
    let captured = capture(|| load("llama", SourceType::Disk));
    captured.assert_tree(
        "
        Wasm/Load tc.source.type=disk tc.size.bytes=5
          Wasm/Read
        ",
    );
    captured.assert_metrics(
        "
        tc_loaded_bytes_total{tc.source.type=disk} 5
        tc_loads_total{tc.source.type=disk, outcome=ok} 1
        ",
    );
    let (outer, inner) = (captured.span("Wasm/Load"), captured.span("Wasm/Read"));
    assert!(inner.duration >= Duration::from_millis(2) && outer.duration >= inner.duration, "{outer:?} {inner:?}");
    assert!(inner.trace_id == outer.trace_id && inner.span_id != outer.span_id, "{outer:?} {inner:?}");
    println!("{captured}");
}
