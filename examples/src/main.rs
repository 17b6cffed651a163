//! The demo: a small tensor store as real processes on this machine, talking gRPC, instrumented with Tracecast.
//!
//! A Global Store, two Store Daemons and a client run as separate processes. They export to a collector in this
//! process, or to `OTEL_EXPORTER_OTLP_ENDPOINT`. The client registers artifacts and requests replicas, from disk and
//! from a peer; one request fails, one is cancelled, and one daemon gets SIGTERM while it works. Then the terminal
//! shows one request across all processes, metrics, log lines and the span account, and a page for the browser is
//! written.
//!
//! `--page PATH` sets the path of that page. `--telemetry-catalogue` prints everything that the program can emit, as
//! Markdown, or as JSON or a dashboard with `=json` or `=grafana` appended.

mod demo;
mod rpc;
mod store;

use std::path::Path;
use std::process::ExitCode;

/// The artifacts on the first daemon's disk, with their numbers of batches.
const ARTIFACTS: [(&str, u64); 4] = [("resnet-50", 2), ("llama-3-8b", 6), ("mixtral-8x7b", 24), ("gemma-2-9b", 12)];

const USAGE: &str = "usage: tracecast-examples [--page PATH | --telemetry-catalogue[=markdown|json|grafana]]";

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    if let Some(code) = tracecast::catalogue::handle_arguments(std::env::args_os()) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The demo starts this program again in one of these roles.
    let ended = match arguments[..] {
        [] => return demo::run(None).await,
        ["--page", page] => return demo::run(Some(Path::new(page))).await,
        ["global-store"] => store::global_store().await,
        ["daemon", name, global_store, nvml, folder] => {
            let artifacts: &[_] = if name == demo::FIRST { &ARTIFACTS } else { &[] };
            let (nvml, folder) = (Path::new(nvml), Path::new(folder));
            store::daemon(store::DaemonSettings { name, global_store, nvml, folder, artifacts }).await
        }
        ["client", global_store, first, second] => {
            store::client(store::Fleet { global_store, first, second, artifacts: &ARTIFACTS }).await
        }
        _ => Err(USAGE.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
