//! The encoder of the OpenTelemetry SDK's OTLP exporter, for spans with the same two attributes.

use std::hint::black_box;
use std::time::{Duration, Instant, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message as _;

use super::{SPANS, UUID, per_span};

/// Returns the nanoseconds per span that the SDK's HTTP exporter takes to encode ended spans.
pub fn round() -> f64 {
    let resource = (&Resource::builder().with_service_name("bench").build()).into();
    let spans: Vec<SpanData> = (0..SPANS).map(span).collect();
    let start = Instant::now();
    let resource_spans = group_spans_by_resource_and_scope(spans, &resource);
    black_box(ExportTraceServiceRequest { resource_spans }.encode_to_vec());
    per_span(start)
}

fn span(x: u64) -> SpanData {
    let (trace_id, flags) = (TraceId::from(u128::from(x) << 64 | 7), TraceFlags::SAMPLED);
    let start_time = SystemTime::now();
    SpanData {
        span_context: SpanContext::new(trace_id, SpanId::from(x + 1), flags, false, TraceState::default()),
        parent_span_id: SpanId::from(7),
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: "Bench/Two".into(),
        start_time,
        end_time: start_time + Duration::from_nanos(20),
        attributes: vec![KeyValue::new("tc.artifact.id", UUID.to_owned()), KeyValue::new("tc.size", x as i64)],
        dropped_attributes_count: 0,
        events: Default::default(),
        links: Default::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("bench").build(),
    }
}
