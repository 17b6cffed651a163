//! Precedence: everything is off by default, and code overrides variables.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::config::{Config, Destination, Exporter, Level, Otlp, Protocol, Secret, Severity, Signal};

fn config(variables: &[(&str, &str)]) -> Config {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    Config::from_variables(|name| variables.get(name).map(|value| (*value).to_owned()))
}

fn on(config: &Config) -> [bool; 3] {
    Signal::ALL.map(|signal| config.is_on(signal))
}

fn otlp(config: &Config, signal: Signal) -> Otlp {
    match config.resolved(signal).as_slice() {
        [Destination::Otlp(otlp), ..] => (**otlp).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn off_unless_told_otherwise() {
    assert_eq!(on(&config(&[])), [false; 3]);
    assert_eq!(on(&Config::new()), [false; 3]);
    assert_eq!(on(&config(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_TRACES_SAMPLER", "always_on")])), [false; 3]);
    assert_eq!(on(&config(&[("OTEL_ENABLED", "true")])), [true; 3]);
    assert_eq!(on(&config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:4318")])), [true; 3]);
    assert_eq!(on(&config(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://x:4318")])), [false, true, false]);
    assert_eq!(on(&config(&[("OTEL_LOGS_EXPORTER", "otlp")])), [false, false, true]);
    assert_eq!(on(&config(&[("TC_OTEL_DEBUG", "1")])), [true; 3]);
}

#[test]
fn an_explicit_off_beats_any_endpoint() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:4318");
    assert_eq!(on(&config(&[endpoint, ("OTEL_ENABLED", "false")])), [false; 3]);
    assert_eq!(on(&config(&[endpoint, ("OTEL_SDK_DISABLED", "true")])), [false; 3]);
    assert_eq!(on(&config(&[("OTEL_ENABLED", "true"), ("OTEL_SDK_DISABLED", "true")])), [false; 3]);
    assert_eq!(on(&config(&[("OTEL_ENABLED", "false"), ("OTEL_SDK_DISABLED", "false")])), [false; 3]);
    assert_eq!(on(&config(&[("TC_OTEL_DEBUG", "1"), ("OTEL_ENABLED", "false")])), [false; 3]);
    assert_eq!(on(&config(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")])), [false, true, true]);
    assert_eq!(on(&config(&[("OTEL_ENABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")])), [false, true, true]);
    assert_eq!(on(&config(&[("TC_OTEL_DEBUG", "1"), ("OTEL_LOGS_EXPORTER", "none")])), [true, true, false]);
}

#[test]
fn the_protocol_follows_from_the_port_unless_it_is_named() {
    let read = config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:4317")]);
    assert_eq!(otlp(&read, Signal::Logs).protocol, Protocol::Grpc);
    let read = config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "x:4317")]);
    assert_eq!(otlp(&read, Signal::Logs).endpoint.to_string(), "https://x:4317");
    let named = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
    let read = config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x:4317"), named]);
    assert_eq!(otlp(&read, Signal::Logs).endpoint.to_string(), "http://x:4317/v1/logs");
    let read = config(&[("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://x:4317"), ("OTEL_ENABLED", "true")]);
    assert_eq!(otlp(&read, Signal::Logs).protocol, Protocol::Grpc);
    assert_eq!(otlp(&read, Signal::Traces).protocol, Protocol::HttpProtobuf);
}

#[test]
fn one_signal_beats_all_signals() {
    let read = config(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://one:4318/exact"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "b=2"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1000"),
        ("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "2000"),
    ]);
    assert_eq!(otlp(&read, Signal::Traces).endpoint.to_string(), "http://one:4318/exact");
    assert_eq!(otlp(&read, Signal::Metrics).endpoint.to_string(), "http://all:4318/base/v1/metrics");
    assert_eq!(otlp(&read, Signal::Traces).headers, [("a".into(), Secret::new("1").into())]);
    assert_eq!(otlp(&read, Signal::Metrics).headers, [("b".into(), Secret::new("2").into())]);
    assert_eq!(otlp(&read, Signal::Logs).timeout, Duration::from_secs(2));
}

#[test]
fn the_service_name_has_its_own_variable() {
    let both = [("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,b=c"), ("OTEL_SERVICE_NAME", "d")];
    let read = config(&both);
    assert_eq!((read.service_name(), read.settings.resource.attributes.len()), (Some("d"), 2));
    assert_eq!(read.origin("service_name").to_string(), "OTEL_SERVICE_NAME");
    let read = config(&both[..1]);
    assert_eq!(read.service_name(), Some("a"));
    assert_eq!(read.origin("service_name").to_string(), "OTEL_RESOURCE_ATTRIBUTES");
}

#[test]
fn log_level_beats_rust_log_unless_it_is_wrong() {
    let level = |variables: &[(&str, &str)]| config(variables).settings.log_filter.level_of("x");
    assert_eq!(level(&[]), Level::Info);
    assert_eq!(level(&[("RUST_LOG", "warn")]), Level::Warn);
    assert_eq!(level(&[("RUST_LOG", "warn"), ("LOG_LEVEL", "debug")]), Level::Debug);
    assert_eq!(level(&[("RUST_LOG", "warn"), ("LOG_LEVEL", "loud")]), Level::Warn);
}

#[test]
fn the_rest_is_off_where_rust_log_names_targets_only() {
    let level = |variables: &[(&str, &str)]| config(variables).settings.log_filter.level_of("x");
    assert_eq!(level(&[("RUST_LOG", "hyper=debug")]), Level::Off);
    assert_eq!(level(&[("RUST_LOG", "hyper=debug,error")]), Level::Error);
    // Without a valid directive, the default level stays.
    assert_eq!(level(&[("RUST_LOG", "hyper=loud")]), Level::Info);
    assert_eq!(level(&[("LOG_LEVEL", "hyper=debug")]), Level::Info);
}

#[test]
fn code_beats_everything() {
    let endpoint = || "http://code:4318".parse().unwrap();
    let read = config(&[("OTEL_ENABLED", "false"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://one:4318/x")]);
    assert_eq!(on(&read.clone().with_endpoint(endpoint())), [false; 3]);
    let read = read.with_enabled(true).with_endpoint(endpoint()).with_service_name("s").with_role("daemon");
    assert_eq!(otlp(&read, Signal::Traces).endpoint.to_string(), "http://code:4318/v1/traces");
    assert_eq!((read.service_name(), read.role()), (Some("s"), Some("daemon")));
    assert_eq!(read.origin("enabled").to_string(), "code");
    let read =
        read.with_protocol(Protocol::HttpJson).with_header("X", Secret::new("1")).with_header("x", Secret::new("2"));
    let sent = otlp(&read, Signal::Metrics);
    assert_eq!((sent.protocol, sent.headers), (Protocol::HttpJson, vec![("x".into(), Secret::new("2").into())]));
    let read = read.with_exporters(Signal::Logs, vec![Exporter::Console]).with_exporters(Signal::Traces, vec![]);
    assert_eq!(read.resolved(Signal::Logs), [Destination::Console]);
    assert_eq!(on(&read), [false, true, true]);
    let own = read.with_signal_endpoint(Signal::Metrics, "http://m:1/exact".parse().unwrap());
    assert_eq!(otlp(&own, Signal::Metrics).endpoint.to_string(), "http://m:1/exact");
}

#[test]
fn a_wrong_variable_is_ignored_and_the_rest_holds() {
    let read =
        config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://x"), ("OTEL_TRACES_EXPORTER", "otlp"), ("TC_STRICT", "1")]);
    assert_eq!(on(&read), [true, false, false]);
    assert_eq!(otlp(&read, Signal::Traces).endpoint.to_string(), "http://localhost:4318/v1/traces");
    assert!(read.settings.strict && read.problems().iter().all(|problem| problem.severity == Severity::Warning));
}

#[test]
fn the_environment_of_the_process_is_read() {
    // Reading any environment neither fails nor panics.
    let _ = Config::from_env().is_on(Signal::Traces);
}
