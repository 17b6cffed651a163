//! What the process says of itself, what goes on when nothing is sampled, and what is said about a receiver that fails.
#![cfg(feature = "logs")]

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tracecast::prelude::*;
use tracecast::{Context, SpanId, TraceId};
use tracecast_receiver::Receiver;

use crate::child::Child;

const LONG: Duration = Duration::from_secs(20);
const PAGE: &str = include_str!("../../../book/src/variables.md");

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
}

#[tc_span("Store/Load")]
fn load() {
    LOADS.add(1, ());
    tracing::info!("loaded");
}

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let telemetry = tracecast::init();
    load();
    match what.as_str() {
        "loads" => {}
        "follows" => {
            Context::remote(TraceId(7), SpanId(9), true).run(load);
            Context::remote(TraceId(8), SpanId(9), false).run(load);
        }
        "leaves" => return println!("report: {}", telemetry.shutdown(Duration::from_millis(300))),
        "waits" => while !telemetry.flush(Duration::from_millis(200)).complete {},
        other => panic!("no program is called {other}"),
    }
    println!("report: {}", telemetry.shutdown(LONG));
}

fn run(what: &str, variables: &[(&str, &str)]) -> (Receiver, crate::child::Output) {
    let receiver = Receiver::start();
    let endpoint = format!("http://{}", receiver.address);
    let all = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())], variables].concat();
    let output = Child::new(module_path!(), "program", what).variables(&all).run();
    assert!(output.succeeded, "{}", output.text);
    (receiver, output)
}

/// The resource of each signal, as text by name.
fn resources(receiver: &Receiver) -> [BTreeMap<String, String>; 3] {
    let body = |path: &str| receiver.at(path)[0].body.clone();
    let traces = ExportTraceServiceRequest::decode(&body("/v1/traces")[..]).unwrap();
    let metrics = ExportMetricsServiceRequest::decode(&body("/v1/metrics")[..]).unwrap();
    let logs = ExportLogsServiceRequest::decode(&body("/v1/logs")[..]).unwrap();
    let named = |resource: &Option<Resource>| {
        let attributes = resource.as_ref().unwrap().attributes.iter();
        let text = |value: &Value| match value {
            Value::StringValue(text) => text.clone(),
            Value::IntValue(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        let pair = |attribute: &opentelemetry_proto::tonic::common::v1::KeyValue| {
            (attribute.key.clone(), text(attribute.value.as_ref().unwrap().value.as_ref().unwrap()))
        };
        attributes.map(pair).collect()
    };
    [
        named(&traces.resource_spans[0].resource),
        named(&metrics.resource_metrics[0].resource),
        named(&logs.resource_logs[0].resource),
    ]
}

fn is_random_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let hex = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    lengths == [8, 4, 4, 4, 12] && hex && text.as_bytes()[14] == b'4' && b"89ab".contains(&text.as_bytes()[19])
}

#[test]
fn every_signal_says_which_process_it_came_from() {
    let (first, _) = run("loads", &[("TC_ROLE", "daemon"), ("OTEL_RESOURCE_ATTRIBUTES", "team=a,host.name=mine")]);
    let [traces, metrics, logs] = resources(&first);
    assert_eq!((&traces, &traces), (&metrics, &logs), "all signals say the same");
    let executable = std::env::current_exe().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(traces["service.name"], format!("unknown_service:{executable}"));
    assert_eq!(traces["process.executable.name"], executable);
    assert!(traces["process.pid"].parse::<u32>().unwrap() > 0);
    assert_eq!((traces["tc.role"].as_str(), traces["team"].as_str()), ("daemon", "a"));
    assert_eq!(traces["host.name"], "mine", "what was configured beats what was found");
    assert!(!traces["host.arch"].is_empty() && !traces["os.type"].is_empty());
    assert_eq!(
        (traces["telemetry.sdk.name"].as_str(), traces["telemetry.sdk.language"].as_str()),
        ("tracecast", "rust")
    );
    assert!(!traces["telemetry.sdk.version"].is_empty());
    assert!(is_random_uuid(&traces["service.instance.id"]), "{}", traces["service.instance.id"]);

    let (second, _) = run("loads", &[("OTEL_SERVICE_NAME", "store")]);
    let [again, ..] = resources(&second);
    assert_eq!(again["service.name"], "store");
    assert_ne!(again["service.instance.id"], traces["service.instance.id"], "each process has its own");
    assert!(!again.contains_key("tc.role"));
}

/// The rows of the book's table: an attribute, and the variables that it is taken from.
fn downward() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `k8s."));
    let row = |line: &'static str| {
        let mut names = line.split('`').skip(1).step_by(2);
        (names.next().unwrap(), names.collect())
    };
    rows.map(row).collect()
}

#[test]
fn a_pod_is_named_as_the_book_says() {
    let rows = downward();
    assert_eq!(rows.len(), 7);
    let most = rows.iter().map(|(_, names)| names.len()).max().unwrap();
    // The first variable of each row, then the second where there is one, and so on.
    for at in 0..most {
        let mut variables = vec![("KUBERNETES_SERVICE_HOST", "10.0.0.1")];
        for (attribute, names) in rows.iter().filter(|(_, names)| names.len() > at) {
            variables.extend(
                names[at..]
                    .iter()
                    .enumerate()
                    .map(|(later, name)| (*name, if later == 0 { *attribute } else { "a later variable" })),
            );
        }
        let (receiver, _) = run("loads", &variables);
        let [traces, ..] = resources(&receiver);
        for (attribute, _) in rows.iter().filter(|(_, names)| names.len() > at) {
            assert_eq!(traces.get(*attribute).map(String::as_str), Some(*attribute), "variable {at}");
        }
    }
    // Outside of a cluster such variables mean something else; the tests may run inside of one.
    let inside = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let (receiver, _) = run("loads", &[("POD_NAME", "a")]);
    let [outside, ..] = resources(&receiver);
    assert_eq!(outside.contains_key("k8s.pod.name"), inside, "{outside:?}");
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let decoded = receiver.at("/v1/traces").into_iter();
    let decoded = decoded.map(|request| ExportTraceServiceRequest::decode(&request.body[..]).unwrap());
    let scopes = decoded.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

#[test]
fn a_ratio_of_nothing_stops_local_roots_only() {
    for variables in [
        &[("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0")][..],
        &[("OTEL_TRACES_SAMPLER", "always_off")],
        &[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.0")],
    ] {
        let (receiver, _) = run("follows", variables);
        let spans = spans(&receiver);
        let ids: Vec<_> =
            spans.iter().map(|span| (*span.trace_id.last().unwrap(), span.parent_span_id.clone())).collect();
        assert_eq!(ids, [(7, vec![0, 0, 0, 0, 0, 0, 0, 9])], "the sampled remote parent is followed, and nothing else");
        assert_eq!(receiver.last_sum("tc_loads_total"), Some(3), "metrics go on");
        let logs = receiver.at("/v1/logs").into_iter();
        let logs = logs.map(|request| ExportLogsServiceRequest::decode(&request.body[..]).unwrap());
        let records: Vec<_> = logs
            .flat_map(|request| request.resource_logs)
            .flat_map(|resource| resource.scope_logs)
            .flat_map(|scope| scope.log_records)
            .collect();
        assert_eq!(records.len(), 3, "logs go on");
        assert!(records.iter().all(|record| record.trace_id.len() == 16), "and name their trace, sampled or not");
    }
}

#[test]
fn a_failure_and_its_end_are_told_once() {
    let receiver = Receiver::start();
    receiver.set_sick(true);
    let endpoint = format!("http://{}", receiver.address);
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"),
        ("OTEL_BSP_SCHEDULE_DELAY", "0"),
    ];
    let running = Child::new(module_path!(), "program", "waits").variables(&variables).spawn();
    running.wait_for("retrying");
    receiver.set_sick(false);
    let output = running.end();
    assert!(output.succeeded && output.text.contains("1 spans ended = 1 exported"), "{}", output.text);
    let said = output.said();
    let what = format!("traces to {endpoint}/: ");
    assert_eq!(said.len(), 3, "the start, the failure and its end: {said:?}");
    assert!(
        said[1].starts_with(&format!("warning: {what}")) && said[1].contains("503") && said[1].ends_with("retrying"),
        "{said:?}"
    );
    assert!(said[2].starts_with(&format!("{what}recovered after ")), "{said:?}");
    // Whoever wants to hear of nothing, hears of nothing.
    receiver.set_sick(true);
    let quiet = [&variables[..], &[("OTEL_LOG_LEVEL", "error")]].concat();
    let output = Child::new(module_path!(), "program", "leaves").variables(&quiet).run();
    assert!(output.text.contains("1 pending; "), "{}", output.text);
    assert_eq!(output.said(), Vec::<String>::new());
}
