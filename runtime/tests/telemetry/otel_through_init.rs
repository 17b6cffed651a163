//! From init to the wire with the OpenTelemetry API beside ours: one tree, one request of metrics, any exporter of its SDK.
#![cfg(feature = "otel")]

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use opentelemetry::trace::{TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_sdk::trace::InMemorySpanExporter;
use prost::Message as _;
use tracecast::config::{Config, Interop, Signal};
use tracecast::prelude::*;
use tracecast_receiver::Receiver;

use crate::turn::turn;

#[tc_span("Store/Load")]
fn load() {
    let tracer =
        global::tracer_with_scope(opentelemetry::InstrumentationScope::builder("driver").with_version("2").build());
    tracer.in_span("query", |_| call());
}

#[tc_span("Store/Call", kind = client)]
fn call() {
    let mut headers = HashMap::new();
    global::get_text_map_propagator(|propagator| propagator.inject_context(&Context::current(), &mut headers));
    *INJECTED.lock().unwrap() = headers.remove("traceparent");
}

static INJECTED: Mutex<Option<String>> = Mutex::new(None);

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
}

const LONG: Duration = Duration::from_secs(20);

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn spans_of_both_are_one_tree_in_two_scopes() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    load();
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (3, 3, 0), "{report}");
    let request = receiver.at("/v1/traces").pop().unwrap();
    let request = ExportTraceServiceRequest::decode(&request.body[..]).unwrap();
    let scopes = &request.resource_spans[0].scope_spans;
    let spans: Vec<_> = scopes
        .iter()
        .flat_map(|scope| scope.spans.iter().map(|span| (scope.scope.as_ref().unwrap().name.as_str(), span)))
        .collect();
    let find = |name: &str| spans.iter().find(|(_, span)| span.name == name).copied().unwrap();
    let [(ours, load), (theirs, query), (again, call)] = ["Store/Load", "query", "Store/Call"].map(find);
    assert_eq!((ours, theirs, again), ("tracecast", "driver", "tracecast"));
    assert_eq!((&query.parent_span_id, &call.parent_span_id), (&load.span_id, &query.span_id));
    assert_eq!((&query.trace_id, &call.trace_id), (&load.trace_id, &load.trace_id));
    let injected = INJECTED.lock().unwrap().take();
    assert_eq!(injected, Some(format!("00-{}-{}-01", hex(&call.trace_id), hex(&call.span_id))));
    // After the end their API records nothing.
    assert!(!global::tracer("x").in_span("late", |context| context.span().is_recording()));
}

#[test]
fn their_own_provider_stays_if_interop_is_off() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).with_interop(Interop::Off).init().unwrap();
    load();
    assert_eq!(telemetry.shutdown(LONG).spans_ended, 2);
}

#[test]
fn an_exporter_of_their_sdk_gets_all_spans() {
    let _turn = turn();
    let exporter = InMemorySpanExporter::default();
    let telemetry = Config::new().with_service_name("store").with_span_exporter(exporter.clone()).init().unwrap();
    assert!(telemetry.is_on(Signal::Traces) && !telemetry.is_on(Signal::Metrics));
    load();
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (3, 3, 0), "{report}");
    let spans = exporter.get_finished_spans().unwrap();
    let names: Vec<_> = spans.iter().map(|span| (&*span.name, span.instrumentation_scope.name())).collect();
    assert!(names.contains(&("Store/Load", "tracecast")) && names.contains(&("query", "driver")), "{names:?}");
    assert!(telemetry.shutdown(LONG).complete);
}

#[test]
fn metrics_of_both_are_one_request() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    LOADS.add(2, ());
    global::meter("driver").u64_counter("driver.queries").build().add(3, &[KeyValue::new("kind", "read")]);
    assert!(telemetry.flush(LONG).complete);
    let text = telemetry.render_prometheus();
    assert!(text.contains("tc_loads_total 2\n"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("driver_queries_total{") && line.ends_with(" 3")), "{text}");
    drop(telemetry);
    let request = receiver.at("/v1/metrics").remove(0);
    let request = ExportMetricsServiceRequest::decode(&request.body[..]).unwrap();
    let [resource] = &request.resource_metrics[..] else { panic!("one resource") };
    let names = resource.scope_metrics.iter().map(|scope| {
        let names: Vec<_> = scope.metrics.iter().map(|metric| metric.name.as_str()).collect();
        (scope.scope.as_ref().unwrap().name.as_str(), names)
    });
    let names: HashMap<_, _> = names.collect();
    assert!(names["tracecast"].contains(&"tc_loads_total") && names["tracecast"].contains(&"tc_spans_created_total"));
    assert_eq!(names["driver"], ["driver.queries"]);
}

#[test]
fn interop_that_is_off_leaves_their_provider_alone() {
    use opentelemetry_sdk::trace::SdkTracerProvider;

    let _turn = turn();
    let (receiver, exporter) = (Receiver::start(), InMemorySpanExporter::default());
    global::set_tracer_provider(SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build());
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).with_interop(Interop::Off).init().unwrap();
    global::tracer("x").in_span("during", |_| ());
    drop(telemetry);
    global::tracer("x").in_span("after", |_| ());
    let names: Vec<_> = exporter.get_finished_spans().unwrap().into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["during", "after"]);
}

#[test]
fn traces_that_are_switched_off_are_so_for_both() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    telemetry.set_enabled(Signal::Traces, false).unwrap();
    load();
    telemetry.set_enabled(Signal::Traces, true).unwrap();
    load();
    assert_eq!(telemetry.shutdown(LONG).spans_ended, 3);
}

#[test]
fn an_exporter_of_the_program_outlives_a_file_that_is_read_again() {
    let _turn = turn();
    let (first, second) = (Receiver::start(), Receiver::start());
    let exporter = InMemorySpanExporter::default();
    let path = std::env::temp_dir().join(format!("tracecast-plugged-{}.yaml", std::process::id()));
    let file = |receiver: &Receiver| {
        let endpoint = format!("http://{}/v1/traces", receiver.address);
        format!(
            "{{file_format: '1.0', tracer_provider: {{processors: [{{simple: {{exporter: {{otlp_http: {{endpoint: '{endpoint}'}}}}}}}}]}}}}"
        )
    };
    std::fs::write(&path, file(&first)).unwrap();
    let telemetry = Config::from_file(&path).unwrap().with_span_exporter(exporter.clone()).init().unwrap();
    load();
    assert!(telemetry.flush(LONG).complete);
    std::fs::write(&path, file(&second)).unwrap();
    telemetry.reload().unwrap();
    load();
    assert!(telemetry.flush(LONG).complete);
    std::fs::write(&path, "file_format: '1.0'").unwrap();
    telemetry.reload().unwrap();
    load();
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (9, 9, 0), "{report}");
    assert_eq!(exporter.get_finished_spans().unwrap().len(), 9);
    assert_eq!((first.span_names().len(), second.span_names().len()), (3, 3));
    drop(telemetry);
    std::fs::remove_file(path).unwrap();
}
