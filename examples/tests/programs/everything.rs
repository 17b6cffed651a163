//! The program that makes one of everything says what it made, with telemetry and without.

use std::process::Command;

use serde_json::Value;

fn run(variables: &[(&str, &str)]) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everything"));
    // Whatever the environment of the test says.
    let is_set = |name: &String| ["OTEL_", "TC_", "LOG_LEVEL", "RUST_LOG"].iter().any(|start| name.starts_with(start));
    for name in std::env::vars().map(|(name, _)| name).filter(is_set) {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

fn ours(made: &Value) -> impl Iterator<Item = &Value> {
    made["spans"].as_array().unwrap().iter().filter(|span| span["scope"]["name"] == "tracecast")
}

#[test]
fn each_span_it_says_it_made_is_shown_with_its_id() {
    let (made, said) = run(&[("OTEL_TRACES_EXPORTER", "console"), ("TC_CONSOLE_FORMAT", "json")]);
    assert!(ours(&made).count() > 20, "{made}");
    for span in ours(&made) {
        let id = span["span_id"].as_str().unwrap();
        assert!(id.len() == 16 && said.contains(&format!("\"spanId\":\"{id}\"")), "{span}");
    }
}

#[test]
fn without_telemetry_it_runs_all_the_same() {
    let (made, _) = run(&[]);
    assert_eq!(made["report"]["spans_ended"], 0);
    assert!(ours(&made).count() > 20);
    // Nothing is recorded: only the context that a span was given as its parent goes on.
    for span in ours(&made) {
        assert!(span["span_id"] == "" || span["span_id"] == span["parent_span_id"], "{span}");
    }
}
