//! Telemetry that is compiled out says so where it starts and where it ends, and names the command that finds who did it.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![forbid(unsafe_code)]

use std::process::Command;
use std::time::Duration;

const ROLE: &str = "TRACECAST_OFF_ROLE";
const SHOWN_BY: &str = "`cargo tree -e features -i tracecast` shows what enables it";

/// What the program does that the other tests start.
#[test]
fn program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    match tracecast::try_init() {
        Ok(telemetry) => {
            assert_eq!(tracecast_off_test::options("ab"), Ok(2));
            println!("report: {}", telemetry.shutdown(Duration::from_secs(5)));
        }
        Err(error) => println!("error: {error}"),
    }
}

/// Runs the program with these variables and no others of ours.
fn run(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program", "--nocapture"]);
    for (name, _) in std::env::vars()
        .filter(|(name, _)| ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG"].iter().any(|start| name.starts_with(start)))
    {
        command.env_remove(name);
    }
    let output = command.env(ROLE, "1").envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    [output.stdout, output.stderr].map(|stream| String::from_utf8(stream).unwrap()).concat()
}

#[test]
fn the_start_line_and_the_report_say_so() {
    let text =
        run(&[("OTEL_TRACES_EXPORTER", "console"), ("OTEL_METRICS_EXPORTER", "console"), ("OTEL_LOG_LEVEL", "warn")]);
    let line = text.lines().find(|line| line.contains("warning: annotated spans")).expect(&text);
    assert!(line.contains("are compiled out by the feature `off` of tracecast") && line.contains(SHOWN_BY), "{line}");
    assert!(
        line.contains("traces (annotated spans compiled out) to the console") && !line.contains("traces to"),
        "{line}"
    );
    assert!(
        line.contains("metrics (declared metrics compiled out) to the console") && !line.contains("metrics to"),
        "{line}"
    );
    let report = text.lines().find(|line| line.contains("report: ")).expect(&text);
    assert!(report.contains("report: 0 spans ended") && report.contains(SHOWN_BY), "{report}");
}

#[test]
fn strict_is_an_error() {
    let text = run(&[("OTEL_TRACES_EXPORTER", "console"), ("TC_STRICT", "true")]);
    assert!(
        text.contains("error: annotated spans and declared metrics are compiled out") && text.contains(SHOWN_BY),
        "{text}"
    );
}

#[test]
fn a_program_that_exports_nothing_stays_silent_at_its_start() {
    let text = run(&[("TC_STRICT", "true")]);
    assert!(!text.contains("warning") && !text.contains("error"), "{text}");
}
