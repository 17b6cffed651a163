//! A handler that blocks its thread, and how that is found: a line names the function while it blocks, its span gets an event,
//! and metrics count it. A second handler does the same work where it may block.
//!
//! It calls itself twice, prints its metrics about stalls and about its runtime, and ends.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::get;
use tokio::runtime::Handle;
use tower::ServiceExt as _;
use tracecast::Context;
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast_tower::HttpServerLayer;

// ANCHOR: handlers
/// Stands for work that keeps its thread: compression, a large parse, a lock, a library that reads files.
#[tc_span("Archive/Compress")]
fn compress() {
    std::thread::sleep(Duration::from_millis(400));
}

/// All other tasks of this thread wait for it.
#[tc_span("Archive/PackHere", busy)]
async fn pack_here() {
    compress();
}

/// The work is done on a thread that may block.
#[tc_span("Archive/PackElsewhere", busy)]
async fn pack_elsewhere() {
    let context = Context::current();
    // Fails only if the work panics.
    let _ = tokio::task::spawn_blocking(move || context.run(compress)).await;
}
// ANCHOR_END: handlers

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let telemetry = Config::from_env().with_stalls(true).init()?;
    let _observed = tracecast::observe_runtime("main", &Handle::current());
    let router = Router::new()
        .route("/here", get(pack_here))
        .route("/elsewhere", get(pack_elsewhere))
        .layer(HttpServerLayer::new());
    for path in ["/here", "/elsewhere"] {
        let request = Request::get(path).body(Body::empty())?;
        let response = tokio::spawn(router.clone().oneshot(request)).await??;
        println!("{path}: {}", response.status());
    }
    let metrics = telemetry.render_prometheus();
    let is_shown = |line: &&str| line.starts_with("tc_stalls_total") || line.starts_with("tc_runtime");
    metrics.lines().filter(is_shown).for_each(|line| println!("{line}"));
    println!("{}", telemetry.shutdown(Duration::from_secs(5)));
    Ok(())
}
