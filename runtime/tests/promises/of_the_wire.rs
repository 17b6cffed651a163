//! What variables promise is what arrives: the protocol, headers, compression, limits, batches; and off means that nobody is
//! even connected to.
#![cfg(feature = "logs")]

use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tracecast::prelude::*;
use tracecast_receiver::{Receiver, Request, wait_until};

use crate::child::Child;

const LONG: Duration = Duration::from_secs(20);

tracecast::tc_keys! {
    /// The first attribute.
    pub id first: str = "tc.test.first";
    /// The second.
    pub id second: str = "tc.test.second";
}

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
}

#[tc_span("Store/Load", attrs(first = "0123456789", second = "0123456789"))]
fn load() {
    for _ in 0..3 {
        tracecast::current().event_with("read", |event| {
            event.set(first, "0123456789");
            event.set(second, "0123456789");
        });
    }
    LOADS.add(1, ());
    tracing::info!(one = 1, two = 2, "0123456789");
}

tracecast::tc_keys! {
    /// A list of texts.
    pub id tags: [str] = "tc.test.tags";
    /// A list of numbers.
    pub measure scores: [f64] = "tc.test.scores";
}

#[tc_span("Store/List", attrs(tags = ["0123456789", "ab"], "http.request.header.x-id" = ["0123456789"], "tc.test.sizes" = [1, -2]))]
fn list() {
    tracecast::current().event_with("scored", |event| event.set(scores, [0.5]));
    tracecast::current().set(scores, [0.0; 0]);
}

/// What each program does.
#[test]
fn program() {
    let Some(what) = crate::child::role() else { return };
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let caught = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        status.lines().find(|line| line.starts_with("SigCgt")).map(str::to_owned)
    };
    let before = (threads(), caught());
    let telemetry = tracecast::init();
    let after = (threads(), caught());
    load();
    match what.as_str() {
        "loads" => (0..4).for_each(|_| load()),
        "lists" => list(),
        "counts" => println!("threads {} more, handlers the same: {}", after.0 - before.0, after.1 == before.1),
        "twice" => {
            telemetry.flush(LONG);
            load();
        }
        other => panic!("no program is called {other}"),
    }
    println!("report: {}", telemetry.shutdown(LONG));
}

/// Runs a program that sends to a receiver, and gives what came, by path.
fn run(what: &str, variables: &[(&str, &str)]) -> impl Fn(&str) -> Vec<Request> + use<> {
    let receiver = Receiver::answering("200 OK");
    let endpoint: String = receiver.endpoint();
    let all = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())], variables].concat();
    let output = Child::new(module_path!(), "program", what).variables(&all).run();
    assert!(output.succeeded && output.text.contains(" 0 pending; "), "{}", output.text);
    move |path: &str| {
        let requests = receiver.at(path);
        let line = format!("post {path} http/1.1");
        assert!(requests.iter().all(|request| request.head.starts_with(&line)), "{requests:?}");
        requests
    }
}

fn spans(requests: &[Request]) -> Vec<Vec<Span>> {
    let decoded = requests.iter().map(|request| ExportTraceServiceRequest::decode(&request.body[..]).unwrap());
    let of = |request: ExportTraceServiceRequest| {
        let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    };
    decoded.map(of).collect()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

#[test]
fn the_protocol_is_protobuf_over_http_by_default() {
    let came = run("loads", &[]);
    for path in ["/v1/traces", "/v1/metrics", "/v1/logs"] {
        let requests = came(path);
        assert!(!requests.is_empty(), "{path}");
        assert!(requests[0].head.contains("content-type: application/x-protobuf"), "{}", requests[0].head);
    }
}

/// On Linux every address of 127/8 is this machine, so that the port is free whatever listens on it elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn port_4317_means_grpc_unless_the_protocol_is_named() {
    use std::io::Read as _;

    // An address for each: a program that another test is just starting may hold a copy of a listener for a moment.
    let cases = [
        ("127.43.17.1:4317", "", "PRI * HTTP/2.0\r\n\r\nSM"),
        ("127.43.17.2:4317", "http/protobuf", "POST /v1/traces HTTP/1.1"),
    ];
    for (address, protocol, expected) in cases {
        let listener = TcpListener::bind(address).unwrap();
        let endpoint = format!("http://{address}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_LOGS_EXPORTER", "none"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
        ];
        let running = Child::new(module_path!(), "program", "loads").variables(&variables).spawn();
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = vec![0; expected.len()];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(String::from_utf8_lossy(&first), expected);
        drop(running);
    }
}

#[test]
fn an_explicit_off_connects_to_nobody() {
    for off in [("OTEL_ENABLED", "false"), ("OTEL_SDK_DISABLED", "true")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), off, ("OTEL_BSP_SCHEDULE_DELAY", "0")];
        let output = Child::new(module_path!(), "program", "loads").variables(&variables).run();
        assert!(output.succeeded && output.text.contains("report: 0 spans ended"), "{}", output.text);
        assert_eq!(output.said(), Vec::<String>::new());
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn off_has_no_thread_and_neither_off_nor_on_has_a_handler() {
    let output = Child::new(module_path!(), "program", "counts").run();
    assert!(output.text.contains("threads 0 more, handlers the same: true"), "{}", output.text);
    let endpoint: String = Receiver::answering("200 OK").endpoint();
    let output =
        Child::new(module_path!(), "program", "counts").variables(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).run();
    assert!(output.text.contains("threads 1 more, handlers the same: true"), "{}", output.text);
}

#[test]
fn headers_and_compression_arrive() {
    let variables = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20abc,x-tenant=a"),
        ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x-tenant=b"),
        ("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json"),
    ];
    let came = run("loads", &variables);
    let (traces, metrics, logs) = (&came("/v1/traces")[0], &came("/v1/metrics")[0], &came("/v1/logs")[0]);
    for head in [&traces.head, &metrics.head] {
        assert!(head.contains("\r\nauthorization: bearer abc\r\n") && head.contains("\r\nx-tenant: a\r\n"), "{head}");
    }
    assert!(logs.head.contains("\r\nx-tenant: b\r\n") && !logs.head.contains("authorization"), "{}", logs.head);
    assert!(metrics.head.contains("content-encoding: gzip") && metrics.body.starts_with(&[0x1f, 0x8b]));
    assert!(!traces.head.contains("content-encoding"), "{}", traces.head);
    assert!(logs.head.contains("content-type: application/json"), "{}", logs.head);
    assert!(serde_json::from_slice::<serde_json::Value>(&logs.body).unwrap()["resourceLogs"].is_array());
}

#[test]
fn limits_hold_on_the_wire() {
    let variables = [
        ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "4"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_SPAN_EVENT_COUNT_LIMIT", "2"),
        ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "3"),
    ];
    let came = run("loads", &variables);
    let span = &spans(&came("/v1/traces"))[0][0];
    assert_eq!(text(&span.attributes, "tc.test.first").as_deref(), Some("0123"));
    assert_eq!((span.events.len(), span.dropped_events_count), (2, 1));
    assert_eq!([span.events[0].attributes.len(), span.events[1].attributes.len()], [1, 1]);
    // What its events have left out is counted on the span too.
    assert_eq!((text(&span.attributes, "tc.test.second"), span.dropped_attributes_count), (None, 1 + 2));
    let logs = ExportLogsServiceRequest::decode(&came("/v1/logs")[0].body[..]).unwrap();
    let record = &logs.resource_logs[0].scope_logs[0].log_records[0];
    // The other field, and the file and the line that it was logged at.
    assert_eq!((record.attributes.len(), record.dropped_attributes_count), (1, 3), "{record:?}");
    let Some(Value::StringValue(body)) = record.body.as_ref().unwrap().value.clone() else { panic!("{record:?}") };
    assert_eq!(body, "012");
}

/// Lists arrive as lists, in each encoding, and the limit of texts is that of each text in them.
#[test]
fn lists_arrive_as_lists() {
    let any = |value| AnyValue { value: Some(value) };
    let list = |values: &[Value]| {
        let values = values.iter().cloned().map(any).collect();
        Some(any(Value::ArrayValue(ArrayValue { values })))
    };
    let text = |text: &str| Value::StringValue(text.to_owned());
    let came = run("lists", &[("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "4")]);
    let all: Vec<Span> = spans(&came("/v1/traces")).into_iter().flatten().collect();
    let span = all.iter().find(|span| span.name == "Store/List").unwrap();
    let of = |name: &str| span.attributes.iter().find(|pair| pair.key == name).unwrap().value.clone();
    assert_eq!(of("tc.test.tags"), list(&[text("0123"), text("ab")]));
    assert_eq!(of("http.request.header.x-id"), list(&[text("0123")]));
    assert_eq!(of("tc.test.sizes"), list(&[Value::IntValue(1), Value::IntValue(-2)]));
    assert_eq!(of("tc.test.scores"), list(&[]));
    assert_eq!(span.events[0].attributes[0].value, list(&[Value::DoubleValue(0.5)]));
    assert_eq!(span.dropped_attributes_count, 0);

    let came = run("lists", &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")]);
    let bodies =
        came("/v1/traces").iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect::<String>();
    let expected = r#"{"key":"tc.test.tags","value":{"arrayValue":{"values":[{"stringValue":"0123456789"},{"stringValue":"ab"}]}}}"#;
    assert!(bodies.contains(expected), "{bodies}");
    assert!(bodies.contains(r#"{"key":"tc.test.scores","value":{"arrayValue":{"values":[]}}}"#), "{bodies}");
}

#[test]
fn batches_have_the_size_that_was_named() {
    let came = run("loads", &[("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2"), ("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "3")]);
    let sizes: Vec<usize> = spans(&came("/v1/traces")).iter().map(Vec::len).collect();
    assert!(sizes.iter().all(|size| *size <= 2) && sizes.iter().sum::<usize>() == 5, "{sizes:?}");
    let logs = came("/v1/logs");
    let records = logs.iter().map(|request| {
        let request = ExportLogsServiceRequest::decode(&request.body[..]).unwrap();
        request.resource_logs[0].scope_logs.iter().map(|scope| scope.log_records.len()).sum::<usize>()
    });
    let sizes: Vec<usize> = records.collect();
    assert!(sizes.iter().all(|size| *size <= 3) && sizes.iter().sum::<usize>() == 5, "{sizes:?}");
}

#[test]
fn points_count_from_when_it_was_said() {
    for (preference, temporality, values) in [("cumulative", 2, [1, 2]), ("delta", 1, [1, 1])] {
        let came = run("twice", &[("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference)]);
        let sums = came("/v1/metrics").into_iter().filter_map(|request| {
            let request = ExportMetricsServiceRequest::decode(&request.body[..]).unwrap();
            let metrics = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
            metrics.flat_map(|scope| scope.metrics).find(|metric| metric.name == "tc_loads_total")
        });
        let points: Vec<(i32, i64)> = sums
            .map(|metric| match metric.data {
                Some(Data::Sum(sum)) => {
                    let value = sum.data_points[0].value.unwrap();
                    let opentelemetry_proto::tonic::metrics::v1::number_data_point::Value::AsInt(value) = value else {
                        panic!("{sum:?}")
                    };
                    (sum.aggregation_temporality, value)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(points, values.map(|value| (temporality, value)), "{preference}");
    }
}

#[test]
fn metrics_are_sent_at_their_interval() {
    let receiver = Receiver::answering("200 OK");
    let endpoint: String = receiver.endpoint();
    let variables = [("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", endpoint.as_str()), ("OTEL_METRIC_EXPORT_INTERVAL", "20")];
    let running = Child::new(module_path!(), "waiting_program", "waits").variables(&variables).spawn();
    // At the default interval not one would come before the program ends.
    wait_until("three requests", || receiver.all().len() >= 3);
    for request in receiver.all() {
        assert!(request.head.starts_with("post / http/1.1"), "{}", request.head);
    }
    drop(running);
}

/// Runs until it is ended, with metrics on.
#[test]
fn waiting_program() {
    if crate::child::role().as_deref() != Some("waits") {
        return;
    }
    let _telemetry = tracecast::init();
    LOADS.add(1, ());
    std::thread::sleep(Duration::from_secs(30));
}
