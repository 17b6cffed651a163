//! Any exporter of OpenTelemetry's SDK brings out our spans and those of the API.

#![cfg(feature = "otel")]

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::trace::{SpanId, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Array, global};
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SpanData, SpanExporter};
use tracecast::config::Config;
use tracecast::prelude::*;

use crate::turn::turn;

#[tc_span("Export/Outer", kind = server)]
fn outer() -> Result<(), std::io::Error> {
    global::tracer("raw").in_span("raw", |context| {
        context.span().set_attribute(opentelemetry::KeyValue::new("k", 7));
        inner();
    });
    Err(std::io::Error::other("lost"))
}

#[tc_span("Export/Inner", attrs(tracecast::keys::size_bytes = 9_u64, "test.tags" = ["a", "b"], "test.sizes" = [7_usize]))]
fn inner() {}

fn config() -> Config {
    Config::default().with_service_name("exported")
}

#[test]
fn it_gets_one_tree() {
    let _turn = turn();
    let exporter = InMemorySpanExporter::default();
    let guard = config().with_span_exporter(exporter.clone()).init().unwrap();
    let _ = outer();
    let report = guard.flush(Duration::from_secs(10));
    assert!(report.complete, "{report}");
    let spans = exporter.get_finished_spans().unwrap();
    let by_name: HashMap<_, _> = spans.iter().map(|span| (span.name.to_string(), span)).collect();
    assert_eq!((spans.len(), by_name.len()), (3, 3), "{spans:?}");
    let parent = |name: &str| by_name[name].parent_span_id;
    let id = |name: &str| by_name[name].span_context.span_id();
    assert_eq!(parent("Export/Outer"), SpanId::INVALID);
    assert_eq!((parent("raw"), parent("Export/Inner")), (id("Export/Outer"), id("raw")));
    let outer = by_name["Export/Outer"];
    assert_eq!((&outer.span_kind, &outer.status), (&SpanKind::Server, &Status::error("lost")));
    assert_eq!(outer.instrumentation_scope.name(), "tracecast");
    assert_eq!(by_name["raw"].instrumentation_scope.name(), "raw");
    assert_eq!(by_name["Export/Inner"].attributes[0].value, opentelemetry::Value::I64(9));
    let list = |at: usize| by_name["Export/Inner"].attributes[at].value.clone();
    assert_eq!(list(1), opentelemetry::Value::Array(Array::String(vec!["a".into(), "b".into()])));
    assert_eq!(list(2), opentelemetry::Value::Array(Array::I64(vec![7])));
    assert_eq!(by_name["raw"].attributes[0].key.as_str(), "k");
    let report = guard.shutdown(Duration::from_secs(10));
    assert!(report.complete && report.spans_ended == 3 && report.spans_dropped == 0, "{report}");
}

/// An exporter that fails, and one that panics.
#[derive(Debug)]
struct Bad(bool);

impl SpanExporter for Bad {
    async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
        assert!(!self.0, "on purpose");
        Err(OTelSdkError::InternalFailure("on purpose".to_owned()))
    }
}

#[test]
fn one_that_fails_or_panics_costs_its_own_spans_alone() {
    let _turn = turn();
    for panics in [false, true] {
        let good = InMemorySpanExporter::default();
        let guard = config().with_span_exporter(Bad(panics)).with_span_exporter(good.clone()).init().unwrap();
        let _ = outer();
        guard.flush(Duration::from_secs(10));
        assert_eq!(good.get_finished_spans().unwrap().len(), 3, "{panics}");
        let report = guard.shutdown(Duration::from_secs(10));
        assert_eq!((report.spans_ended, report.spans_dropped), (3, 3), "{report}");
    }
}
