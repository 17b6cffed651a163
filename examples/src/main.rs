//! The demo: a small tensor store as real processes on this machine, talking gRPC, instrumented with Tracecast.
//!
//! A Global Store, two Store Daemons and a client run as processes of their own and export to a collector in this one,
//! or to where `OTEL_EXPORTER_OTLP_ENDPOINT` says. The client registers artifacts and has replicas made, from disk and
//! from a peer; one request fails, one is given up, and one daemon is told to stop while it works. Then the terminal
//! shows one request across all processes, metrics, log lines and the account, and a page for the browser is written.
//!
//! `--page PATH` says where that page goes. `--telemetry-catalogue` prints all that the program can emit, as Markdown or, with
//! `=json` or `=grafana` behind it, as JSON or a dashboard.

mod demo;
mod rpc;
mod store;

use std::path::Path;
use std::process::ExitCode;

/// What the first daemon has on its disk, and of how many batches it is.
const ARTIFACTS: [(&str, u64); 4] = [("resnet-50", 2), ("llama-3-8b", 6), ("mixtral-8x7b", 24), ("gemma-2-9b", 12)];

const USAGE: &str = "usage: tracecast-examples [--page PATH | --telemetry-catalogue[=markdown|json|grafana]]";

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    if let Some(code) = tracecast::catalogue::handle_arguments(std::env::args_os()) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The demo starts this program again with one of these roles.
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
