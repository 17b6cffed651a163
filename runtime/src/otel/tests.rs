//! The same spans by two ways: through the SDK's data and its own conversion, and by our encoder.

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
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::foreign::{Random, test_scopes};

/// Keeps what it is given.
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
        run(exporter.export(&[], &spans)).unwrap();
        let batch = std::mem::take(&mut *kept.spans.lock().unwrap());
        let theirs = group_spans_by_resource_and_scope(batch, &ResourceAttributesWithSchema::default());
        let mut ours = TraceBatch::new(&resource);
        spans.iter().for_each(|span| ours.foreign(span));
        let ours = ExportTraceServiceRequest::decode(&ours.finish()[..]).unwrap();
        let ours: Vec<_> = ours.resource_spans[0].scope_spans.iter().skip(1).cloned().map(with_status).collect();
        assert_eq!(ours, theirs[0].scope_spans);
    }
    let resource = kept.resource.lock().unwrap().clone().unwrap();
    assert_eq!(resource.schema_url(), Some("https://example.org/1"));
    assert_eq!(resource.get(&"service.name".into()).unwrap().as_str(), "twice");
}

/// They always write a status, also one that says nothing.
fn with_status(mut scope: ScopeSpans) -> ScopeSpans {
    scope.spans.iter_mut().for_each(|span| span.status = Some(span.status.take().unwrap_or_default()));
    scope
}

#[test]
fn what_an_exporter_says_of_a_failure_is_told() {
    let mut exporter = boxed(Kept { fails: true, ..Kept::default() });
    let error = run(exporter.export(&[], &[Random(1).span(&test_scopes())])).unwrap_err();
    assert!(error.contains("no"), "{error}");
    assert_eq!(exporter.flush(), Ok(()));
    assert!(exporter.shutdown(Duration::from_secs(1)).is_err());
}
