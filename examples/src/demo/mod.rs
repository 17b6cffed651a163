//! The process that starts all others, collects their exports and shows them.

mod account;
mod collector;
mod fleet;
mod html;
mod process;
mod promises;
mod received;
mod series;
mod terminal;
mod trace;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use self::collector::Collector;
use self::fleet::{Fleet, Outcome};
use self::trace::Trace;
use crate::store::Failure;

/// The daemon that has all artifacts on its disk.
pub(crate) const FIRST: &str = "daemon-1";
/// The daemon that gets SIGTERM while it works.
const SECOND: &str = "daemon-2";
/// The artifact whose request is shown.
const SHOWN: &str = "llama-3-8b";
/// The limit for the whole run, well above its usual time.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the demo. Fails if anything that it promises to show was not seen.
pub(crate) async fn run(page: Option<&Path>) -> ExitCode {
    let ended = match elsewhere() {
        Some(name) => without_collector(name).await,
        None => with_collector(page.map_or_else(page_path, PathBuf::from)).await,
    };
    match ended {
        Ok(missing) if missing.is_empty() => ExitCode::SUCCESS,
        Ok(missing) => {
            missing.iter().for_each(|what| eprintln!("missing: {what}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the variable that sends telemetry somewhere else, if one is set.
fn elsewhere() -> Option<&'static str> {
    let variables = [
        "OTEL_CONFIG_FILE",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    ];
    variables.into_iter().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

async fn without_collector(variable: &str) -> Result<Vec<String>, Failure> {
    println!("{variable} is set: all telemetry goes there and is not shown here\n");
    let outcome = limited(Fleet::new(None)).await?;
    terminal::account(&outcome);
    Ok(promises::of_processes(&outcome))
}

async fn with_collector(page: PathBuf) -> Result<Vec<String>, Failure> {
    let collector = Collector::default();
    let endpoint = collector.start().await?;
    println!("a Global Store, two Store Daemons and a client, which export to {endpoint}\n");
    let outcome = limited(Fleet::new(Some(endpoint))).await?;
    let received = collector.received();
    let traces = Trace::all(&received);
    if let Some(shown) = traces.iter().find(|trace| trace.loads(SHOWN)) {
        terminal::trace(shown);
        terminal::other_traces(&traces);
        terminal::metrics(&received);
        terminal::lines(shown, &received);
    }
    terminal::account(&outcome);
    std::fs::write(&page, html::page(&traces, &received, &outcome))?;
    println!("\npage for the browser: {}", page.display());
    Ok([promises::of_processes(&outcome), promises::of_telemetry(&traces, &received, &outcome)].concat())
}

/// Runs the fleet with a time limit, so that a hanging process ends with the demo.
async fn limited(fleet: Fleet) -> Result<Outcome, Failure> {
    let ended = tokio::time::timeout(LIMIT, fleet.run()).await;
    ended.map_err(|_| format!("the fleet did not finish within {LIMIT:?}"))?
}

/// Returns a path in Cargo's target folder, if this program lies there, or else in the temporary folder.
fn page_path() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    target.map_or_else(std::env::temp_dir, PathBuf::from).join("tracecast-demo.html")
}
