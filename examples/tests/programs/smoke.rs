//! The smoke test says what became of each signal, with a receiver that takes all, one that refuses, one that is busy, and
//! none at all; and it answers for its catalogue.

use std::process::{Command, Output};

use tracecast_receiver::{NOBODY, Receiver};

/// A receiver that gives every request the same answer, and its address.
fn receiver(answer: &str) -> (String, Receiver) {
    let receiver = Receiver::answering(answer);
    (receiver.endpoint(), receiver)
}

fn smoke(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoke"));
    // Whatever the environment of the test says.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_") || name.starts_with("TC_")) {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).args(arguments).output().unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32, expected: &str) {
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((&*text, output.status.code()), (expected, Some(code)), "{errors}");
}

/// A line for each signal.
fn lines(address: &str, outcome: &str) -> String {
    let line = |signal| format!("{signal} to {address}/v1/{signal} by http/protobuf: {outcome}\n");
    ["traces", "metrics", "logs"].map(line).concat()
}

#[test]
fn all_is_well_with_a_receiver_that_takes_all() {
    let (address, receiver) = receiver("200 OK");
    // What keeps telemetry of other programs from being sent does not count here.
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*address), ("OTEL_TRACES_SAMPLER", "always_off"), ("LOG_LEVEL", "off")];
    check(&smoke(&variables, &[]), 0, &lines(&address, "ok"));
    let mut paths: Vec<String> = receiver.all().into_iter().map(|request| request.path).collect();
    paths.sort();
    assert_eq!(paths, ["/v1/logs", "/v1/metrics", "/v1/traces"]);
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    let (address, _receiver) = receiver("401 Unauthorized");
    let output = smoke(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &address)], &[]);
    check(&output, 1, &lines(&address, "refused: HTTP 401 Unauthorized"));
}

#[test]
fn a_receiver_that_is_busy_is_waited_for() {
    let (address, _receiver) = receiver("503 Service Unavailable");
    let output = smoke(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &address)], &["--seconds", "1"]);
    check(&output, 1, &lines(&address, "not taken in time: HTTP 503 Service Unavailable"));
}

#[test]
fn nobody_listening_is_told_with_its_cause() {
    let address = format!("http://{NOBODY}");
    let output = smoke(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &address)], &["--seconds", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.lines().all(|line| line.contains(": unreachable: ") && line.contains("refused")), "{text}");
}

#[test]
fn a_signal_that_is_off_is_no_failure_but_all_of_them_are() {
    let (address, _receiver) = receiver("200 OK");
    let one = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &*address)];
    let expected = format!("traces to {address}/ by http/protobuf: ok\nmetrics: off\nlogs: off\n");
    check(&smoke(&one, &[]), 0, &expected);
    let output = smoke(&[], &[]);
    check(&output, 2, "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("OTEL_EXPORTER_OTLP_ENDPOINT"));
}

#[test]
fn a_wrong_setting_is_told_and_fails() {
    let (address, _receiver) = receiver("200 OK");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*address), ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")];
    let wrong = "configuration: OTEL_EXPORTER_OTLP_TIMEOUT: `soon` is not a duration; expected a whole number of milliseconds\n";
    check(&smoke(&variables, &[]), 1, &format!("{wrong}{}", lines(&address, "ok")));
    let output = smoke(&[], &["--quickly"]);
    check(&output, 2, "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown argument `--quickly`; expected --seconds N"));
}

#[test]
fn the_catalogue_is_printed_and_compared() {
    let markdown = smoke(&[], &["--telemetry-catalogue"]);
    assert!(String::from_utf8_lossy(&markdown.stdout).contains("| `Smoke/Send` | Internal |"));
    let dashboard = smoke(&[], &["--telemetry-catalogue=grafana"]);
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard.stdout).unwrap();
    assert_eq!(dashboard["title"], "smoke");

    let json = String::from_utf8(smoke(&[], &["--telemetry-catalogue=json"]).stdout).unwrap();
    let file = std::env::temp_dir().join(format!("tracecast-smoke-{}.json", std::process::id()));
    let compare = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let output = smoke(&[], &[&["--telemetry-catalogue-compare", file.to_str().unwrap()], more].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text, _) = compare(&json, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("nothing has changed: at most "), "{text}");

    let (code, text, _) =
        compare(&json.replace("tc_smoke_total", "tc_smokes_total"), &["--telemetry-catalogue-allow=9"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("broken: metric `tc_smokes_total` was renamed to `tc_smoke_total`\n"), "{text}");

    let (code, _, errors) = compare("{}", &[]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.ends_with(": not a catalogue: missing field `tracecast_catalogue` at line 1 column 2\n"),
        "{errors}"
    );
    std::fs::remove_file(&file).unwrap();
    let gone = smoke(&[], &["--telemetry-catalogue-compare", file.to_str().unwrap()]);
    assert_eq!(gone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("tracecast-smoke-"));
}
