//! Compares our encoder with the SDK's own conversion of the same spans.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::ScopeSpans;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;

use super::exporter::boxed;
use crate::declare::callsite::Kind;
use crate::declare::key::Key as _;
use crate::declare::keys::error::{error_message, error_type};
use crate::declare::keys::{open_seconds, size_bytes};
use crate::declare::value::OwnedValue;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome};
use crate::record::ids::{SpanId, TraceId};
use crate::record::layout::attribute;
use crate::trace::external::{Random, test_scopes};

/// An exporter that keeps its spans.
#[derive(Clone, Debug, Default)]
struct Kept {
    spans: Arc<Mutex<Vec<SpanData>>>,
    resource: Arc<Mutex<Option<Resource>>>,
    fails: bool,
}

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        assert!(opentelemetry::Context::is_current_telemetry_suppressed());
        self.spans.lock().unwrap().extend(batch);
        if self.fails { Err(OTelSdkError::InternalFailure("no".to_owned())) } else { Ok(()) }
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        Err(OTelSdkError::Timeout(timeout))
    }

    fn set_resource(&mut self, resource: &Resource) {
        *self.resource.lock().unwrap() = Some(resource.clone());
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn spans_of_the_api_are_the_same_by_both_ways() {
    let (mut random, scopes) = (Random(11), test_scopes());
    let resource = EncodedResource::new(&[("service.name".to_owned(), "twice".into())]);
    let kept = Kept::default();
    let mut exporter = boxed(kept.clone());
    exporter.set_resource(&resource.attributes, Some("https://example.org/1"));
    for _ in 0..20 {
        let spans: Vec<_> = (0..50).map(|_| random.span(&scopes)).collect();
        run(exporter.export(&spans)).unwrap();
        let batch = std::mem::take(&mut *kept.spans.lock().unwrap());
        let theirs = group_spans_by_resource_and_scope(batch, &ResourceAttributesWithSchema::default());
        let mut ours = TraceBatch::new(&resource);
        spans.iter().for_each(|span| ours.finished(span));
        let ours = ExportTraceServiceRequest::decode(&ours.take(Vec::new())[..]).unwrap();
        let ours: Vec<_> = ours.resource_spans[0].scope_spans.iter().cloned().map(with_status).collect();
        assert_eq!(ours, theirs[0].scope_spans);
    }
    let resource = kept.resource.lock().unwrap().clone().unwrap();
    assert_eq!(resource.schema_url(), Some("https://example.org/1"));
    assert_eq!(resource.get(&"service.name".into()).unwrap().as_str(), "twice");
}

/// Creates one of our spans, with every type of value.
fn own(random: &mut Random) -> FinishedSpan {
    let values = [
        OwnedValue::Bool(random.one_in(2)),
        OwnedValue::I64(random.next() as i64),
        OwnedValue::U64(random.next()),
        OwnedValue::F64(0.5),
        OwnedValue::Str(random.text().into()),
    ];
    let message = values[4].clone();
    let keys = [size_bytes::META, open_seconds::META, error_message::META, error_type::META];
    let attributes = |random: &mut Random| -> Vec<Attribute> {
        // The error message is always a text.
        let value = |random: &mut Random, key| {
            if std::ptr::eq(key, error_message::META) {
                message.clone()
            } else {
                values[random.below(5) as usize].clone()
            }
        };
        let some = |key| random.one_in(2).then(|| attribute(key, value(random, key)));
        keys.into_iter().filter_map(some).collect()
    };
    let kinds = [Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer];
    let id = |random: &mut Random| SpanId(random.next() | 1);
    let link = Link { trace_id: TraceId(7), span_id: id(random), sampled: random.one_in(2), ..Link::default() };
    FinishedSpan {
        trace_id: TraceId(u128::from(random.next()) | 1),
        span_id: id(random),
        parent_span_id: random.one_in(2).then(|| id(random)),
        parent_is_remote: random.one_in(2),
        trace_state: if random.one_in(2) { format!("a={}", random.below(9)) } else { String::new() },
        start_unix_nanos: random.unix_nanos(),
        duration: Duration::from_nanos(random.below(1 << 33) * 100),
        outcome: Outcome::from_bits(random.below(4) as u8),
        attributes: attributes(random),
        events: vec![Event {
            name: "event".into(),
            unix_nanos: random.unix_nanos(),
            attributes: attributes(random),
            dropped_attributes: 0,
        }],
        links: vec![link],
        dropped_attributes: random.below(3) as u32,
        dropped_events: random.below(3) as u32,
        dropped_links: random.below(3) as u32,
        ..FinishedSpan::new(random.text().into(), kinds[random.below(5) as usize])
    }
}

#[test]
fn spans_of_ours_are_the_same_by_both_ways() {
    let mut random = Random(12);
    let resource = EncodedResource::new(&[("service.name".to_owned(), "twice".into())]);
    let kept = Kept::default();
    let mut exporter = boxed(kept.clone());
    for _ in 0..20 {
        let spans: Vec<_> = (0..50).map(|_| own(&mut random)).collect();
        run(exporter.export(&spans)).unwrap();
        let batch = std::mem::take(&mut *kept.spans.lock().unwrap());
        let theirs = group_spans_by_resource_and_scope(batch, &ResourceAttributesWithSchema::default());
        let mut ours = TraceBatch::new(&resource);
        spans.iter().for_each(|span| ours.finished(span));
        let mut ours = ExportTraceServiceRequest::decode(&ours.take(Vec::new())[..]).unwrap();
        let ours = with_status(ours.resource_spans.remove(0).scope_spans.remove(0));
        // We do not record whether a link is remote: the SDK writes "no", we omit it.
        let without = |mut scope: ScopeSpans| {
            scope.spans.iter_mut().flat_map(|span| &mut span.links).for_each(|link| link.flags &= 1);
            scope
        };
        let (ours, theirs) = (without(ours), without(theirs[0].scope_spans[0].clone()));
        assert_eq!((&ours.scope, ours.spans.len()), (&theirs.scope, theirs.spans.len()));
        ours.spans.iter().zip(&theirs.spans).for_each(|(ours, theirs)| assert_eq!(ours, theirs));
    }
}

/// Adds a default status if there is none, because the SDK always writes one.
fn with_status(mut scope: ScopeSpans) -> ScopeSpans {
    scope.spans.iter_mut().for_each(|span| span.status = Some(span.status.take().unwrap_or_default()));
    scope
}

#[test]
fn errors_of_an_exporter_are_returned() {
    let mut exporter = boxed(Kept { fails: true, ..Kept::default() });
    let error = run(exporter.export(&[Random(1).span(&test_scopes())])).unwrap_err();
    assert!(error.contains("no"), "{error}");
    assert_eq!(exporter.flush(), Ok(()));
    assert!(exporter.shutdown(Duration::from_secs(1)).is_err());
}
