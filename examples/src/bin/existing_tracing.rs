//! Moves a codebase from `tracing` step by step; after each step a request is still one trace.
//!
//! 1. Two layers are added to the existing subscriber. From then on, spans and events of `tracing` are exported.
//! 2. Functions are annotated one by one. New and old spans are parents and children of each other.
//! 3. Annotated functions gain typed keys, an outcome and metrics, which `tracing` does not have.

use std::time::Duration;

use tracecast::keys::{size_bytes, tensor::artifact};
use tracecast::prelude::*;
use tracing_subscriber::layer::SubscriberExt as _;

/// Existing code; it does not use Tracecast.
mod old {
    pub(crate) fn handle_request(id: u32) -> usize {
        let _entered = tracing::info_span!("handle_request", request.id = id).entered();
        tracing::info!("a request came in");
        super::load("llama-3-8b").unwrap_or_default()
    }

    pub(crate) fn decode(bytes: &[u8]) -> usize {
        let _entered = tracing::info_span!("decode", bytes = bytes.len()).entered();
        tracing::debug!("not wanted by the level");
        bytes.len()
    }
}

/// An annotated function. Its parent is the `tracing` span that called it, and its child is the one that it calls.
#[tc_span("Store/Load", attrs(artifact = name), result(size_bytes = |size| *size))]
#[tc_metric(calls = "tc_store_load_total", duration = "tc_store_load_seconds")]
fn load(name: &str) -> Result<usize, std::io::Error> {
    tracing::info!("loading, with the ids of this span");
    Ok(old::decode(name.as_bytes()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The subscriber of the program, with its own layers; it is installed before telemetry starts.
    let subscriber =
        tracing_subscriber::registry().with(tracecast::tracing_spans::layer()).with(tracecast::logs::layer());
    tracing::subscriber::set_global_default(subscriber)?;
    let telemetry = tracecast::init();
    println!("handled: {} bytes", old::handle_request(7));
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
