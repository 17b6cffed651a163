//! The short form: the section in the application's own configuration, read by serde.

use crate::config::{Config, Destination, Level, Otlp, Protocol, Signal, Telemetry, TelemetrySection};
use serde_json::json;

fn section(value: serde_json::Value) -> Telemetry {
    serde_json::from_value(value).unwrap()
}

fn otlp(config: &Config, signal: Signal) -> Otlp {
    match config.resolved(signal).as_slice() {
        [Destination::Otlp(otlp), ..] => (**otlp).clone(),
        other => panic!("{other:?}"),
    }
}

fn everything() -> serde_json::Value {
    json!({
        "enabled": true, "debug": false, "strict": true, "service_name": "store", "role": "daemon",
        "otlp_endpoint": "http://me:hunter2@collector:4318", "protocol": "http/json",
        "resource_attributes": {"a": "text", "b": 2, "c": 1.5, "d": true},
        "headers": {"authorization": "Bearer hunter2", "n": 5},
        "tls": {"ca_file": "/ca.pem", "cert_file": "/c.pem", "key_file": "/k.pem"},
        "compression": "gzip", "timeout_ms": 1500, "metric_interval_ms": 2000, "sampling_ratio": 0.5,
        "logs": false, "filter": "Store=off", "log_level": "debug", "memory_limit": "2MiB"
    })
}

#[test]
fn all_of_it() {
    let config = Config::new().with_telemetry(section(everything()));
    assert_eq!((config.service_name(), config.role()), (Some("store"), Some("daemon")));
    assert_eq!(config.settings.resource.get("a"), Some(&"text".into()));
    assert_eq!(config.settings.resource.get("b"), Some(&2_i64.into()));
    assert_eq!(config.settings.resource.get("c"), Some(&1.5.into()));
    assert_eq!(config.settings.resource.get("d"), Some(&true.into()));
    let sent = otlp(&config, Signal::Traces);
    assert_eq!(sent.endpoint.to_string(), "http://[secret]@collector:4318/v1/traces");
    assert_eq!((sent.protocol, sent.timeout.as_millis(), sent.headers.len()), (Protocol::HttpJson, 1500, 2));
    assert_eq!(sent.tls.client_key.as_ref().unwrap().to_str(), Some("/k.pem"));
    assert_eq!(config.settings.metrics.interval.as_secs(), 2);
    assert_eq!(format!("{:?}", config.settings.traces.sampler), "Ratio(0.5)");
    assert_eq!(Signal::ALL.map(|signal| config.is_on(signal)), [true, true, false]);
    assert!(config.settings.strict && !config.settings.filter.allows("Store/Load"));
    assert_eq!((config.settings.log_filter.level_of("x"), config.settings.memory_limit), (Level::Debug, 2 << 20));
    assert_eq!(config.origin("traces.sampler").to_string(), "application's configuration");
}

#[test]
fn it_does_not_print_secrets() {
    let telemetry = section(everything());
    let shown = format!("{telemetry:?} {:?}", Config::new().with_telemetry(telemetry.clone()));
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn variables_and_earlier_calls_beat_it() {
    let variables = |name: &str| match name {
        "OTEL_SDK_DISABLED" => Some("true".to_owned()),
        "OTEL_SERVICE_NAME" => Some("variable".to_owned()),
        _ => None,
    };
    let config = Config::from_variables(variables).with_telemetry(section(everything()));
    assert_eq!(config.service_name(), Some("variable"));
    assert!(!config.is_on(Signal::Traces));
    let config = Config::new().with_role("code").with_telemetry(section(everything())).with_service_name("later");
    assert_eq!((config.role(), config.service_name()), (Some("code"), Some("later")));
}

#[test]
fn beside_a_file_in_the_standard_format_it_has_no_effect() {
    let config = Config::from_yaml("file_format: '1.0'", |_| None).unwrap().with_telemetry(section(everything()));
    assert_eq!(Signal::ALL.map(|signal| config.is_on(signal)), [false; 3]);
    assert_eq!(config.service_name(), None);
}

#[test]
fn it_is_found_in_the_whole_document() {
    let name = |value: serde_json::Value| {
        let section: TelemetrySection = serde_json::from_value(value).unwrap();
        section.telemetry.and_then(|telemetry| telemetry.service_name)
    };
    assert_eq!(name(json!({"port": 80, "telemetry": {"service_name": "a"}})).as_deref(), Some("a"));
    assert_eq!(name(json!({"observability": {"x": 1, "otel": {"service_name": "b"}}})).as_deref(), Some("b"));
    let both = json!({"telemetry": {"service_name": "a"}, "observability": {"otel": {"service_name": "b"}}});
    assert_eq!(name(both).as_deref(), Some("a"));
    assert_eq!(name(json!({"port": 80})), None);
}

#[test]
fn what_is_wrong_is_said_by_serde() {
    let cases = [
        (json!({"endpoint": "x"}), "unknown field `endpoint`"),
        (
            json!({"otlp_endpoint": "ftp://me:hunter2@x"}),
            "`[secret]` has a scheme other than http and https; expected an address",
        ),
        (json!({"sampling_ratio": 1.5}), "`1.5` is not a ratio; expected a number from 0 to 1"),
        (json!({"protocol": "udp"}), "`udp` is not a protocol; expected grpc, http/protobuf or http/json"),
        (json!({"log_level": "loud"}), "`loud` is not a log directive; expected off, error"),
        (json!({"filter": "x"}), "`x` is not a filter; expected `Component=on`"),
        (json!({"memory_limit": 5}), "`5` is not a memory size; expected at least 1 MiB"),
        (json!({"headers": {"a": [1]}}), "expected a string, a number or a boolean"),
    ];
    for (value, expected) in cases {
        let error = serde_json::from_value::<Telemetry>(value.clone()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hunter2"), "{value}: {error}");
    }
}

#[test]
fn what_serde_cannot_see_is_a_problem() {
    let telemetry =
        section(json!({"headers": {"a b": "hunter2", "C": "d"}, "tls": {"key_file": "/k"}, "enabled": true}));
    let config = Config::new().with_telemetry(telemetry);
    let texts: Vec<String> = config.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "telemetry.headers.a b: is not a valid HTTP header; expected a token as its name and no control characters in its value",
            "telemetry.tls: requires both `cert_file` and `key_file`; client certificate disabled",
        ]
    );
    let sent = otlp(&config, Signal::Traces);
    assert_eq!((sent.headers.len(), sent.headers[0].0.as_str(), sent.tls.client_key), (1, "c", None));
}
