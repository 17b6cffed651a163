//! The program that makes one of everything says what it made, with telemetry and without.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::Value;
use tracecast_receiver::Receiver;

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
    let is_ours =
        |span: &&Value| ["tracecast-examples", "tracecast"].contains(&span["scope"]["name"].as_str().unwrap());
    made["spans"].as_array().unwrap().iter().filter(is_ours)
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

/// Each span and metric is in the scope of the crate that declares it, and a request has each scope once.
#[test]
fn scopes_are_the_crates_that_declare() {
    let receiver = Receiver::start();
    let endpoint: String = receiver.endpoint();
    let (made, _) = run(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
    let version = env!("CARGO_PKG_VERSION");
    let mut spans = HashMap::new();
    for request in receiver.at("/v1/traces") {
        let request = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
        let [resource] = <[_; 1]>::try_from(request.resource_spans).unwrap();
        let scopes: Vec<String> = resource.scope_spans.iter().map(|spans| spans.scope.clone().unwrap().name).collect();
        assert_eq!(scopes.iter().collect::<HashSet<_>>().len(), scopes.len(), "{scopes:?}");
        for of_scope in resource.scope_spans {
            let scope = of_scope.scope.unwrap();
            assert!(!scope.name.starts_with("tracecast") || scope.version == version, "{scope:?}");
            spans.extend(of_scope.spans.into_iter().map(|span| (span.span_id, scope.name.clone())));
        }
    }
    let mut found = HashSet::new();
    for span in ours(&made) {
        let id = u64::from_str_radix(span["span_id"].as_str().unwrap(), 16).unwrap().to_be_bytes().to_vec();
        assert_eq!(spans[&id], span["scope"]["name"], "{span}");
        found.insert(spans[&id].clone());
    }
    assert_eq!(found.len(), 2, "{found:?}");
    let mut metrics = HashMap::new();
    for request in receiver.at("/v1/metrics") {
        let request = ExportMetricsServiceRequest::decode(&request.body[..]).unwrap();
        for of_scope in request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics) {
            let scope = of_scope.scope.unwrap().name;
            metrics.extend(of_scope.metrics.into_iter().map(|metric| (metric.name, scope.clone())));
        }
    }
    let scopes = ["tc_everything_bytes_total", "tc_spans_created_total"].map(|name| metrics[name].as_str());
    assert_eq!(scopes, ["tracecast-examples", "tracecast"]);
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
