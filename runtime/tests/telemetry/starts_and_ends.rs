//! How telemetry starts and ends in a program of its own: what is said, what is strict, and that nothing is lost when `main`
//! returns or panics.

use std::time::Duration;

use tracecast::prelude::*;
use tracecast_receiver::{NOBODY, Receiver};

use crate::child::Child;

#[tc_span("Store/Load")]
fn load() {}

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    match what.as_str() {
        "returns" => {
            let _telemetry = tracecast::init();
            load();
        }
        "panics" => {
            let _telemetry = tracecast::init();
            load();
            panic!("as expected");
        }
        "tries" => match tracecast::try_init() {
            Ok(telemetry) => println!("report: {}", telemetry.shutdown(Duration::from_secs(20))),
            Err(error) => println!("error: {error}"),
        },
        "twice" => {
            let _telemetry = tracecast::init();
            let second = tracecast::init();
            load();
            println!("second: {}", second.shutdown(Duration::from_secs(20)));
            println!("error: {}", tracecast::try_init().err().unwrap());
        }
        "waits" => {
            let telemetry = tracecast::init();
            load();
            println!("report: {}", telemetry.flush(Duration::from_millis(1_500)));
            std::mem::forget(telemetry);
        }
        other => panic!("no program is called {other}"),
    }
}

fn run(what: &str, variables: &[(&str, &str)]) -> crate::child::Output {
    Child::new(module_path!(), "program", what).variables(variables).run()
}

fn endpoint(receiver: &Receiver) -> String {
    format!("http://{}", receiver.address)
}

#[test]
fn nothing_said_means_off_and_silent() {
    let output = run("returns", &[]);
    assert!(output.succeeded);
    assert_eq!(output.said(), Vec::<String>::new());
}

#[test]
fn one_line_says_what_is_on_and_who_said_so() {
    let receiver = Receiver::start();
    let endpoint = endpoint(&receiver);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.0"),
        ("OTEL_LOGS_EXPORTER", "none"),
        ("OTEL_SERVICE_NAME", "store"),
    ];
    let output = run("returns", &variables);
    let expected = format!(
        "traces to {endpoint}/v1/traces by http/protobuf, sampler traceidratio 1; metrics to {endpoint}/v1/metrics by \
         http/protobuf every 60s; logs off; set: logs.exporters (OTEL_LOGS_EXPORTER), otlp.endpoint \
         (OTEL_EXPORTER_OTLP_ENDPOINT), otlp.headers (OTEL_EXPORTER_OTLP_HEADERS), service_name (OTEL_SERVICE_NAME), \
         traces.sampler (OTEL_TRACES_SAMPLER)"
    );
    assert_eq!(output.said(), [expected]);
    assert!(!output.text.contains("hunter2"));
    assert_eq!(receiver.span_names(), ["Store/Load"], "a guard that is dropped brings out what is left");
    let quiet = run("returns", &[&variables[..], &[("OTEL_LOG_LEVEL", "warn")]].concat());
    assert_eq!(quiet.said(), Vec::<String>::new());
}

#[cfg(feature = "logs")]
#[test]
fn the_line_says_where_log_lines_go() {
    let output = run("returns", &[("LOG_LEVEL", "info")]);
    let expected = "traces off; metrics off; logs to standard error; set: log_filter (LOG_LEVEL)";
    assert_eq!(output.said(), [expected]);
    let receiver = Receiver::start();
    let endpoint = endpoint(&receiver);
    let variables = [("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", endpoint.as_str())];
    let output = run("returns", &variables);
    let both = format!("; logs to {endpoint}/ by http/protobuf and standard error; ");
    assert!(output.said()[0].contains(&both), "{:?}", output.said());
    let records_only = [&variables[..], &[("TC_LOG_FORMAT", "none")]].concat();
    let output = run("returns", &records_only);
    assert!(output.said()[0].contains(&format!("; logs to {endpoint}/ by http/protobuf; ")), "{:?}", output.said());
}

#[test]
fn a_panic_in_main_brings_out_what_is_left() {
    let receiver = Receiver::start();
    let output = run("panics", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint(&receiver))]);
    assert!(!output.succeeded && output.text.contains("as expected"), "{}", output.text);
    assert_eq!(receiver.span_names(), ["Store/Load"]);
}

#[test]
fn a_wrong_variable_is_one_warning_and_strict_an_error() {
    let receiver = Receiver::start();
    let endpoint = endpoint(&receiver);
    let wrong = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_TRACES_SAMPLER", "sometimes")];
    let output = run("returns", &wrong);
    let said = output.said();
    assert!(said[0].starts_with("warning: OTEL_TRACES_SAMPLER: `sometimes` is not a sampler"), "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("warning")).count(), 1, "{said:?}");
    assert_eq!(receiver.span_names(), ["Store/Load"], "and it is ignored");

    let strict = [&wrong[..], &[("TC_STRICT", "true")]].concat();
    let output = run("tries", &strict);
    assert!(output.text.contains("error: OTEL_TRACES_SAMPLER: `sometimes` is not a sampler"), "{}", output.text);
    assert!(said[0].contains(", using ") && !output.text.contains(", using "), "nothing is used: {}", output.text);
    let output = run("returns", &strict);
    assert!(output.succeeded, "the program runs on");
    assert!(output.said()[0].starts_with("error: telemetry is off: OTEL_TRACES_SAMPLER"), "{:?}", output.said());
    assert_eq!(receiver.span_names().len(), 1, "without telemetry");
}

#[test]
fn a_wrong_file_means_off_and_one_error() {
    let folder = std::env::temp_dir().join(format!("tracecast-start-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("telemetry.yaml");
    std::fs::write(&path, "file_format: '1.0'\ntracer_provider: {processors: 7}\n").unwrap();
    let path = path.display().to_string();
    let receiver = Receiver::start();
    // The other variables do not count beside a file, not even beside a wrong one.
    let variables = [("OTEL_CONFIG_FILE", path.as_str()), ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint(&receiver))];
    let output = run("returns", &variables);
    let said = output.said();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with(&format!("error: telemetry is off: {path} line 2: tracer_provider.processors: `7`")),
        "{said:?}"
    );
    assert!(output.succeeded && receiver.all().is_empty());
    let output = run("tries", &variables);
    assert!(output.text.contains(&format!("error: {path} line 2: tracer_provider.processors")), "{}", output.text);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_second_of_two_is_off_and_says_so() {
    let receiver = Receiver::start();
    let output = run("twice", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint(&receiver))]);
    let said = output.said();
    assert_eq!(said[1], "error: telemetry is off: telemetry is already running; call `init` once, in `main`");
    let second = "second: telemetry did not start; the error of `init` on standard error has the reason";
    assert!(output.text.contains(second), "{}", output.text);
    assert!(output.text.contains("error: telemetry is already running"), "{}", output.text);
    assert_eq!(receiver.span_names(), ["Store/Load"], "the first goes on");
}

#[test]
fn the_console_is_for_debugging() {
    let output = run("returns", &[("TC_OTEL_DEBUG", "1"), ("OTEL_METRICS_EXPORTER", "none")]);
    assert!(
        output.text.lines().any(|line| line.starts_with("Store/Load ") && line.contains(" trace=")),
        "{}",
        output.text
    );
    let json = [("TC_OTEL_DEBUG", "1"), ("TC_CONSOLE_FORMAT", "json"), ("OTEL_METRICS_EXPORTER", "none")];
    let output = run("returns", &json);
    let line = output.text.lines().find(|line| line.starts_with("{\"resourceSpans\"")).unwrap();
    let request: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"], "Store/Load");
}

#[test]
fn a_failure_that_goes_on_is_told_once_a_minute() {
    let endpoint = format!("http://{NOBODY}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_METRICS_EXPORTER", "none"),
        ("OTEL_LOGS_EXPORTER", "none"),
    ];
    let output = run("waits", &variables);
    let said = output.said();
    let failures: Vec<_> = said.iter().filter(|line| line.contains("refused")).collect();
    assert_eq!(failures, [&format!("warning: traces to {endpoint}/v1/traces: connection refused; retrying")]);
    assert!(output.text.contains("report: 1 spans ended = 0 exported + 0 dropped + 1 pending"), "{}", output.text);
}

#[test]
fn what_the_receiver_says_of_a_success_is_told() {
    let check = |head: &str, body: &[u8], expected: &str| {
        let receiver = Receiver::start();
        receiver.answer(head, body);
        let endpoint = endpoint(&receiver);
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_LOGS_EXPORTER", "none"),
        ];
        let output = run("waits", &variables);
        let expected = format!("warning: traces to {endpoint}/v1/traces: {expected}");
        assert!(output.said().contains(&expected), "{expected} is not in {}", output.text);
    };
    let page = "the response is not OTLP: is this the right address? (HTTP 200 OK, text/html)";
    check("HTTP/1.1 200 OK\r\ncontent-type: text/html", b"<html>", page);
    // A partial success with nothing rejected.
    let said = [0x0a, 7, 0x12, 5, b'h', b'e', b'l', b'l', b'o'];
    let protobuf = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf";
    check(protobuf, &said, "the receiver accepted the request with a message: hello");
}
