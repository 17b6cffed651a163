//! The smallest program with telemetry: set `OTEL_EXPORTER_OTLP_ENDPOINT`, or `TC_OTEL_DEBUG=1` to see it here.

use std::time::Duration;

use tracecast::keys::{
    size_bytes,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;

tc_metrics! {
    /// Bytes that were loaded.
    static LOADED: Counter<(source,)> = "tc_loaded_bytes_total";
}

#[tc_span("Quickstart/Load", attrs(source = from), result(size_bytes = |bytes| bytes.len()))]
#[tc_metric(calls = "tc_quickstart_total", duration = "tc_quickstart_seconds", labels(source = from))]
fn load(name: &str, from: SourceType) -> Result<Vec<u8>, std::io::Error> {
    if name.is_empty() {
        return Err(std::io::Error::other("no name"));
    }
    LOADED.add(name.len(), (from,));
    Ok(name.as_bytes().to_vec())
}

fn main() {
    let telemetry = tracecast::init();
    for (name, from) in [("resnet-50", SourceType::Disk), ("llama", SourceType::Remote), ("", SourceType::Disk)] {
        println!("{name:?}: {:?}", load(name, from).map(|bytes| bytes.len()));
    }
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
}
