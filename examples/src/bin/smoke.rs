//! Sends one span, one metric and one log record to the configured destinations, and prints the result of each. Exits 0
//! if all were accepted, 1 if not, and 2 if nothing could be tried.
//!
//! `smoke --seconds 3` waits for 3 seconds instead of 10.

use std::error::Error;
use std::process::{Command, ExitCode, Output};
use std::time::Duration;

use tracecast::config::{Config, Level, LogFormat, Signal};
use tracecast::prelude::*;
use tracecast::{Filter, Report, Sampler};

/// Records a span with its metrics, and a log record in it.
#[tc_span("Smoke/Send")]
#[tc_metric(calls = "tc_smoke_total")]
fn send() {
    tracing::info!("a log record of the smoke test");
}

fn main() -> ExitCode {
    if let Some(code) = tracecast::catalogue::handle_arguments(std::env::args_os()) {
        return code;
    }
    let result = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Arguments { sends: true, patience }) => make_and_send(patience),
        Ok(Arguments { sends: false, patience }) => try_all(patience),
        Err(wrong) => Err(wrong.into()),
    };
    result.unwrap_or_else(|error| {
        eprintln!("smoke: {error}");
        ExitCode::from(2)
    })
}

struct Arguments {
    /// Whether this process sends; the other one reads its output.
    sends: bool,
    patience: Duration,
}

impl Arguments {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Arguments { sends: false, patience: Duration::from_secs(10) };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--send" => parsed.sends = true,
                "--seconds" => {
                    let value = arguments.next().unwrap_or_default();
                    let wrong = |_| format!("--seconds: `{value}` is not a whole number of seconds");
                    parsed.patience = Duration::from_secs(value.parse().map_err(wrong)?);
                }
                other => {
                    return Err(format!("unknown argument `{other}`; expected --seconds N or --telemetry-catalogue"));
                }
            }
        }
        Ok(parsed)
    }
}

/// Starts another process that sends; its standard error has the causes of failures.
fn try_all(patience: Duration) -> Result<ExitCode, Box<dyn Error>> {
    let config = Config::from_env();
    config.problems().iter().for_each(|problem| println!("configuration: {problem}"));
    if !Signal::ALL.into_iter().any(|signal| config.is_on(signal)) {
        return Err("telemetry is off; set OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_ENABLED=true".into());
    }
    let seconds = patience.as_secs().to_string();
    let output = Command::new(std::env::current_exe()?).args(["--send", "--seconds", &seconds]).output()?;
    let mut all_well = config.problems().is_empty();
    for signal in Signal::ALL {
        let outcome = match config.is_on(signal) {
            true => Outcome::of(signal, &output),
            false => Outcome::Off,
        };
        println!("{}{}: {outcome}", signal.name(), destinations(&config, signal));
        all_well &= matches!(outcome, Outcome::Ok | Outcome::Off);
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn destinations(config: &Config, signal: Signal) -> String {
    let all = config.destinations(signal);
    if all.is_empty() { String::new() } else { format!(" to {}", all.join(" and ")) }
}

enum Outcome {
    Ok,
    Off,
    Refused(String),
    NotTaken(String),
}

impl Outcome {
    /// Reads a signal's outcome from the output of the process that sent.
    fn of(signal: Signal, output: &Output) -> Self {
        let (counts, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let count = |what: &str| {
            let wanted = format!("{} {what} ", signal.name());
            counts.lines().find_map(|line| line.strip_prefix(&wanted)?.parse().ok()).unwrap_or(0)
        };
        let (exported, dropped): (u64, u64) = (count("exported"), count("dropped"));
        let about = format!("tracecast: warning: {} to ", signal.name());
        let cause = told.lines().find_map(|line| line.strip_prefix(&about)?.split_once(": "));
        let cause =
            cause.map(|(_, cause)| cause.split_once("the receiver rejected them: ").map_or(cause, |(_, cause)| cause));
        // For telemetry that could not start at all.
        let last = || told.lines().last().unwrap_or("the cause is unknown").to_owned();
        let cause = cause.map_or_else(last, |cause| cause.trim_end_matches("; retrying").to_owned());
        match (exported, dropped) {
            (1.., 0) => Outcome::Ok,
            (_, 1..) => Outcome::Refused(cause),
            (0, 0) => Outcome::NotTaken(cause),
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let answered = |cause: &str| cause.starts_with("HTTP") || cause.starts_with("gRPC");
        match self {
            Outcome::Ok => f.write_str("ok"),
            Outcome::Off => f.write_str("off"),
            Outcome::Refused(cause) => write!(f, "refused: {cause}"),
            Outcome::NotTaken(cause) if answered(cause) => write!(f, "not taken in time: {cause}"),
            Outcome::NotTaken(cause) if cause.starts_with("the response") => write!(f, "unconfirmed: {cause}"),
            Outcome::NotTaken(cause) => write!(f, "unreachable: {cause}"),
        }
    }
}

/// Sends one of each with the actual configuration, except settings that would suppress or delay them.
fn make_and_send(patience: Duration) -> Result<ExitCode, Box<dyn Error>> {
    let config = Config::from_env()
        .with_sampler(Sampler::AlwaysOn)
        .with_filter(Filter::default())
        .with_metric_interval(Duration::from_secs(3600))
        .with_log_format(LogFormat::None)
        .with_log_filter("info".parse()?)
        .with_diagnostics_level(Level::Warn)
        .with_spool(None);
    let telemetry = config.init()?;
    send();
    let report = telemetry.shutdown(patience);
    print_counts(&report);
    Ok(ExitCode::SUCCESS)
}

fn print_counts(report: &Report) {
    println!("traces exported {}\ntraces dropped {}", report.spans_exported, report.spans_dropped);
    println!("metrics exported {}\nmetrics dropped {}", report.points_exported, report.points_dropped);
    println!("logs exported {}\nlogs dropped {}", report.logs_exported, report.logs_dropped);
}
