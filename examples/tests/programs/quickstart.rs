//! The quickstart runs without anything, and shows its telemetry when it is asked to.

use std::process::{Command, Output};

fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
    // Whatever the environment of the test says.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_") || name.starts_with("TC_")) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn nothing_is_on_by_default() {
    let output = run(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = text.lines().last().unwrap();
    assert!(
        report.starts_with("0 spans ended = 0 exported + 0 dropped + 0 pending; 0 metric points exported"),
        "{text}"
    );
}

#[test]
fn the_console_shows_spans_and_metrics() {
    let output = run(&[("TC_OTEL_DEBUG", "1"), ("OTEL_LOGS_EXPORTER", "none")]);
    let (text, shown) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("3 spans ended = 3 exported + 0 dropped + 0 pending"), "{text}");
    let spans: Vec<_> = shown.lines().filter(|line| line.starts_with("Quickstart/Load ")).collect();
    assert_eq!(spans.len(), 3, "{shown}");
    assert!(spans[0].contains("tc.source.type=disk") && spans[0].contains("tc.size.bytes=9"), "{shown}");
    assert!(spans[2].contains("error") && spans[2].contains("error.message=\"no name\""), "{shown}");
    assert!(shown.contains("tc_loaded_bytes_total{tc.source.type=remote} 5"), "{shown}");
    assert!(shown.contains("tc_quickstart_total{tc.source.type=disk, outcome=error} 1"), "{shown}");
}

#[test]
fn a_wrong_variable_is_named_and_left_out() {
    let output = run(&[("TC_OTEL_DEBUG", "1"), ("OTEL_TRACES_SAMPLER", "sometimes")]);
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}");
    let warning = shown.lines().find(|line| line.contains("OTEL_TRACES_SAMPLER")).unwrap_or_default();
    assert!(warning.contains("`sometimes`") && warning.contains("expected"), "{shown}");
}
