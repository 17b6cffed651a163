//! From init to the wire and back: spans and metrics arrive as they were made, late ones too, and all are accounted for.

use std::sync::Mutex;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tracecast::config::{Config, Protocol, Signal};
use tracecast::prelude::*;
use tracecast_receiver::{NOBODY, Receiver};

use crate::turn::turn;

tc_metrics! {
    /// Loads.
    static LOADS: Counter = "tc_loads_total";
    /// Bytes that are free.
    static FREE: ObservableGauge = "tc_free_bytes";
}

#[tc_span("Store/Load", attrs(tracecast::keys::size_bytes = bytes))]
fn load(bytes: u64) {
    LOADS.add(1, ());
    read();
}

#[tc_span("Store/Read", kind = client)]
fn read() {}

const LONG: Duration = Duration::from_secs(20);

fn config(receiver: &Receiver) -> Config {
    let endpoint = format!("http://{}", receiver.address).parse().unwrap();
    Config::new().with_service_name("store").with_endpoint(endpoint)
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let requests = receiver.at("/v1/traces");
    let decoded = requests.iter().map(|request| ExportTraceServiceRequest::decode(&request.body[..]).unwrap());
    let scopes = decoded.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

#[test]
fn spans_and_metrics_arrive_as_they_were_made() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    load(4096);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_pending), (2, 2, 0), "{report}");
    assert!(report.complete && report.spans_dropped == 0, "{report}");

    let spans = spans(&receiver);
    let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (load, read) = (find("Store/Load"), find("Store/Read"));
    assert_eq!((&read.parent_span_id, &read.trace_id), (&load.span_id, &load.trace_id));
    assert_eq!((load.kind, read.kind), (1, 3));
    let size = load.attributes.iter().find(|attribute| attribute.key == "tc.size.bytes").unwrap();
    assert_eq!(size.value.as_ref().unwrap().value, Some(Value::IntValue(4096)));

    let request = receiver.at("/v1/metrics").pop().unwrap();
    let request = ExportMetricsServiceRequest::decode(&request.body[..]).unwrap();
    let resource = request.resource_metrics[0].resource.as_ref().unwrap();
    let service = resource.attributes.iter().find(|attribute| attribute.key == "service.name").unwrap();
    assert_eq!(service.value.as_ref().unwrap().value, Some(Value::StringValue("store".to_owned())));
    assert!(resource.attributes.iter().any(|attribute| attribute.key == "service.instance.id"));
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    assert!(metrics.iter().any(|metric| metric.name == "tc_loads_total"), "{metrics:?}");
}

#[test]
fn json_says_the_same() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).with_protocol(Protocol::HttpJson).init().unwrap();
    load(4096);
    assert!(telemetry.shutdown(LONG).complete);
    let [request] = &receiver.at("/v1/traces")[..] else { panic!("one request") };
    assert_eq!(request.header("content-type"), "application/json");
    let request: ExportTraceServiceRequest = serde_json::from_slice(&request.body).unwrap();
    let names: Vec<_> = request.resource_spans[0].scope_spans[0].spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["Store/Read", "Store/Load"]);
    assert_eq!(receiver.at("/v1/metrics")[0].header("content-type"), "application/json");
}

#[test]
fn a_receiver_that_is_sick_for_a_while_loses_nothing() {
    let _turn = turn();
    let receiver = Receiver::start();
    receiver.set_sick(true);
    let telemetry = config(&receiver).init().unwrap();
    (0..2_000).for_each(load);
    let report = telemetry.flush(Duration::from_millis(300));
    assert!(!report.complete && report.spans_exported == 0, "{report}");
    let before = report.spans_ended - report.spans_pending - report.spans_dropped;
    assert_eq!(before, 0, "all of them are accounted for: {report}");
    receiver.set_sick(false);
    let report = telemetry.shutdown(LONG);
    assert!(report.complete, "{report}");
    assert_eq!(report.spans_dropped, 0, "{report}");
    assert_eq!(spans(&receiver).len(), 4_000);
}

#[test]
fn shutdown_keeps_its_deadline_when_nobody_answers() {
    let _turn = turn();
    let endpoint = format!("http://{NOBODY}").parse().unwrap();
    let telemetry = Config::new().with_endpoint(endpoint).init().unwrap();
    load(1);
    let start = std::time::Instant::now();
    let report = telemetry.shutdown(Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(!report.complete, "{report}");
    assert_eq!(report.spans_pending, 2, "{report}");
}

#[test]
fn a_callback_that_hangs_does_not_hold_up_the_end() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    load(1);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let _hangs = FREE.observe((), move || {
        // Until the sender is gone.
        let _ = released.lock().unwrap().recv();
        None
    });
    let start = std::time::Instant::now();
    let report = telemetry.shutdown(Duration::from_secs(4));
    assert!(report.complete && report.spans_exported == 2, "{report}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    drop(release);
}

#[test]
fn it_runs_once_and_again_after_its_end() {
    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).init().unwrap();
    let error = config(&receiver).init().err().unwrap();
    assert_eq!(error.to_string(), "telemetry is already running; call `init` once, in `main`");
    drop(telemetry);
    let again = config(&receiver).init().unwrap();
    load(1);
    assert!(again.shutdown(LONG).complete);
    assert_eq!(spans(&receiver).len(), 2);
}

#[test]
fn variables_are_enough() {
    let _turn = turn();
    let receiver = Receiver::start();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", receiver.address)),
        ("OTEL_TRACES_SAMPLER", "always_off".to_owned()),
        ("OTEL_LOGS_EXPORTER", "none".to_owned()),
    ];
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let telemetry = Config::from_variables(lookup).init().unwrap();
    load(1);
    let report = telemetry.shutdown(LONG);
    // Sampling nothing stops local roots; metrics go on.
    assert_eq!((report.spans_ended, spans(&receiver).len()), (0, 0), "{report}");
    assert!(report.points_exported > 0 && !receiver.at("/v1/metrics").is_empty(), "{report}");
}

#[test]
fn nothing_said_means_off() {
    let _turn = turn();
    let telemetry = Config::new().init().unwrap();
    load(1);
    assert!(!LOADS.is_on());
    assert_eq!(telemetry.shutdown(LONG), tracecast::Report::default());
}

#[test]
fn what_a_receiver_rejects_is_counted() {
    use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};

    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).with_exporters(Signal::Metrics, Vec::new()).init().unwrap();
    let partial = ExportTracePartialSuccess { rejected_spans: 1, error_message: "too old".to_owned() };
    let partial = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    receiver.answer("HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf", &partial);
    load(1);
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (2, 1, 1), "{report}");

    // What it does not understand is not sent again.
    receiver.answer("HTTP/1.1 400 Bad Request", b"");
    load(2);
    let report = telemetry.flush(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (4, 1, 3), "{report}");

    // What it is too busy for, is.
    receiver.answer("HTTP/1.1 429 Too Many Requests\r\nretry-after: 1", b"");
    load(3);
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (6, 3, 3), "{report}");
    assert_eq!(receiver.at("/v1/traces").len(), 4);
}

#[test]
fn an_answer_that_is_not_otlp_confirms_nothing() {
    let _turn = turn();
    for protocol in [Protocol::HttpProtobuf, Protocol::HttpJson] {
        let receiver = Receiver::start();
        let config = config(&receiver).with_exporters(Signal::Metrics, Vec::new()).with_protocol(protocol);
        let telemetry = config.init().unwrap();
        // A proxy's page, then half of an answer, then nothing at all: the last one is a success.
        receiver.answer("HTTP/1.1 200 OK\r\ncontent-type: text/html", b"<html>welcome</html>");
        load(1);
        let report = telemetry.flush(LONG);
        assert_eq!((report.spans_ended, report.spans_unconfirmed, report.spans_exported), (2, 2, 0), "{report}");
        assert!(report.complete && report.to_string().contains("+ 0 pending + 2 unconfirmed;"), "{report}");
        receiver.answer("HTTP/1.1 200 OK\r\ncontent-type: application/json", br#"{"partialSuccess":{"rejec"#);
        load(2);
        let report = telemetry.flush(LONG);
        assert_eq!((report.spans_ended, report.spans_unconfirmed, report.spans_exported), (4, 4, 0), "{report}");
        load(3);
        let report = telemetry.shutdown(LONG);
        assert_eq!((report.spans_ended, report.spans_unconfirmed, report.spans_exported), (6, 4, 2), "{report}");
        assert_eq!((report.spans_dropped, receiver.at("/v1/traces").len()), (0, 3), "it is not sent again: {report}");
    }
}

#[test]
fn metric_points_that_wait_are_counted() {
    let _turn = turn();
    let receiver = Receiver::start();
    receiver.set_sick(true);
    let telemetry = config(&receiver).init().unwrap();
    load(1);
    let report = telemetry.flush(Duration::from_millis(300));
    assert!(report.points_pending > 0 && report.points_exported == 0 && !report.complete, "{report}");
    receiver.set_sick(false);
    let report = telemetry.shutdown(LONG);
    assert!(report.points_pending == 0 && report.points_exported > 0 && report.complete, "{report}");
    assert!(report.to_string().contains("metric points exported, 0 dropped, 0 pending; "), "{report}");
}

tracecast::tc_keys! {
    /// One of many.
    pub label item: tracecast::Index<998> = "tc.test.item.with.a.name.that.takes.its.room.in.each.point";
}

macro_rules! wide_counters {
    ($($counter:ident $name:literal),*) => {
        tc_metrics! {
            $(
                /// Something of each item.
                static $counter: Counter<(item,)> = $name;
            )*
        }
        static WIDE: &[&tracecast::Counter<(item,)>] = &[$(&$counter),*];
    };
}

wide_counters!(
    W0 "tc_wide_0_total", W1 "tc_wide_1_total", W2 "tc_wide_2_total", W3 "tc_wide_3_total", W4 "tc_wide_4_total",
    W5 "tc_wide_5_total", W6 "tc_wide_6_total", W7 "tc_wide_7_total", W8 "tc_wide_8_total", W9 "tc_wide_9_total"
);

/// As many series as budgets allow would make a request that backends refuse as a whole.
#[test]
fn metrics_of_many_series_are_several_requests() {
    let _turn = turn();
    for protocol in [Protocol::HttpProtobuf, Protocol::HttpJson] {
        let receiver = Receiver::start();
        // With little memory requests are as much smaller.
        let telemetry = config(&receiver).with_protocol(protocol).with_memory_limit(16 << 20).init().unwrap();
        WIDE.iter().for_each(|counter| (0..998).for_each(|at| counter.add(1, (tracecast::Index::new(at),))));
        let report = telemetry.shutdown(LONG);
        let requests = receiver.at("/v1/metrics");
        let longest = requests.iter().map(|request| request.body.len()).max().unwrap();
        let whole: usize = requests.iter().map(|request| request.body.len()).sum();
        assert!(longest <= whole / 2, "{longest} of {whole} bytes in one request");
        let metrics = requests.iter().flat_map(|request| {
            let request: ExportMetricsServiceRequest = match protocol {
                Protocol::HttpJson => serde_json::from_slice(&request.body).unwrap(),
                _ => ExportMetricsServiceRequest::decode(&request.body[..]).unwrap(),
            };
            request
                .resource_metrics
                .into_iter()
                .flat_map(|metrics| metrics.scope_metrics)
                .flat_map(|scope| scope.metrics)
        });
        let wide =
            metrics.filter(|metric| metric.name.starts_with("tc_wide_")).map(|metric| match metric.data.unwrap() {
                Data::Sum(sum) => sum.data_points.len(),
                other => panic!("{other:?}"),
            });
        assert_eq!(wide.sum::<usize>(), 9_980);
        assert!(report.complete && report.points_exported >= 9_980 && report.points_dropped == 0, "{report}");
    }
}

#[test]
fn a_small_memory_limit_makes_small_requests() {
    use tracecast::keys::tensor::artifact;

    #[tc_span("Store/Long", attrs(artifact = text))]
    fn long(text: &str) {
        std::hint::black_box(text);
    }

    let _turn = turn();
    let receiver = Receiver::start();
    let telemetry = config(&receiver).with_memory_limit(4 << 20).init().unwrap();
    let text = "x".repeat(4_000);
    (0..400).for_each(|_| long(&text));
    let report = telemetry.shutdown(LONG);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_dropped), (400, 400, 0), "{report}");
}
