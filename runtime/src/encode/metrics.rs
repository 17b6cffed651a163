//! Encodes metrics as one OTLP request, grouped by scope: first our metrics by the crates that declare them, then those
//! of raw OpenTelemetry instruments.

use crate::declare::metric::MetricKind;
use crate::encode::message::{self, Message, pairs};
use crate::encode::resource::{self, EncodedResource, Of};
use crate::encode::wire::Wire;
use crate::meter::snapshot::{
    ExemplarPoint, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot, Temporality,
};

/// `AGGREGATION_TEMPORALITY_DELTA` and `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const DELTA: u32 = 1;
const CUMULATIVE: u32 = 2;

/// Encodes an `ExportMetricsServiceRequest` with all points of a snapshot, as protocol buffers.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    request::<Wire>(resource, snapshot)
}

/// Encodes an `ExportMetricsServiceRequest` with all points of a snapshot, in the encoding `M`.
pub(crate) fn request<M: Message>(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    resource.request(["resourceMetrics", "scopeMetrics"], Vec::new(), |m: &mut M| {
        // A metric that only rejected measurements has no points.
        let with_points: Vec<_> = snapshot.metrics.iter().filter(|metric| !metric.points.is_empty()).collect();
        resource::scopes(
            m,
            &with_points,
            |one| Of::metric(one),
            |m, metrics| {
                m.list("metrics", |m| metrics.for_each(|one| m.long_element(2, |m| metric(m, one))));
            },
        );
    })
}

fn metric(m: &mut impl Message, metric: &MetricPoints) {
    m.string(1, "name", &metric.name);
    m.string_unless_empty(2, "description", &metric.description);
    m.string_unless_empty(3, "unit", &metric.unit);
    let (field, name) = match (metric.kind, metric.points.first().map(|point| &point.value)) {
        (MetricKind::Gauge, _) => (5, "gauge"),
        (MetricKind::Counter | MetricKind::UpDownCounter, _) => (7, "sum"),
        (MetricKind::Histogram, Some(PointValue::Exponential(_))) => (10, "exponentialHistogram"),
        (MetricKind::Histogram, _) => (9, "histogram"),
    };
    m.long_message(field, name, |m| {
        m.messages(1, "dataPoints", &metric.points, |m, one| point(m, metric, one));
        if metric.kind != MetricKind::Gauge {
            let is_delta = metric.temporality == Temporality::Delta;
            m.uint32(2, "aggregationTemporality", if is_delta { DELTA } else { CUMULATIVE });
        }
        if matches!(metric.kind, MetricKind::Counter | MetricKind::UpDownCounter) {
            m.boolean(3, "isMonotonic", metric.kind == MetricKind::Counter);
        }
    });
}

fn point(m: &mut impl Message, metric: &MetricPoints, point: &Point) {
    if let Some(start) = metric.start_unix_nanos {
        m.fixed64(2, "startTimeUnixNano", start);
    }
    m.fixed64(3, "timeUnixNano", metric.time_unix_nanos);
    let attributes = match &point.value {
        PointValue::Histogram(_) => 9,
        PointValue::Exponential(_) => 1,
        PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => 7,
    };
    message::attributes(m, attributes, pairs(&point.labels));
    match &point.value {
        PointValue::Histogram(value) => histogram(m, value),
        PointValue::Exponential(value) => exponential(m, value),
        PointValue::U64(value) => match i64::try_from(*value) {
            Ok(value) => m.sfixed64(6, "asInt", value),
            // Too large for an integer in OTLP, which is signed: the nearest floating-point number is sent.
            Err(_) => m.double(4, "asDouble", *value as f64),
        },
        PointValue::I64(value) => m.sfixed64(6, "asInt", *value),
        PointValue::F64(value) => m.double(4, "asDouble", *value),
    }
}

fn histogram(m: &mut impl Message, point: &HistogramPoint) {
    m.fixed64(4, "count", point.count);
    m.double(5, "sum", point.sum);
    m.packed_fixed64(6, "bucketCounts", &point.counts);
    m.packed_double(7, "explicitBounds", point.bounds);
    m.messages(8, "exemplars", &point.exemplars, exemplar);
    point.min.into_iter().for_each(|min| m.double(11, "min", min));
    point.max.into_iter().for_each(|max| m.double(12, "max", max));
}

fn exponential(m: &mut impl Message, point: &ExponentialPoint) {
    m.fixed64(4, "count", point.count);
    m.double(5, "sum", point.sum);
    m.sint32(6, "scale", point.scale);
    m.fixed64(7, "zeroCount", point.zero_count);
    m.message(8, "positive", |m| buckets(m, point.offset, &point.counts));
    if let Some(negative) = &point.negative {
        m.message(9, "negative", |m| buckets(m, negative.offset, &negative.counts));
    }
    m.messages(11, "exemplars", &point.exemplars, exemplar);
    point.min.into_iter().for_each(|min| m.double(12, "min", min));
    point.max.into_iter().for_each(|max| m.double(13, "max", max));
    m.double(14, "zeroThreshold", point.zero_threshold);
}

fn buckets(m: &mut impl Message, offset: i32, counts: &[u64]) {
    m.sint32(1, "offset", offset);
    m.packed_uint64(2, "bucketCounts", counts);
}

fn exemplar(m: &mut impl Message, exemplar: &ExemplarPoint) {
    m.fixed64(2, "timeUnixNano", exemplar.time_unix_nanos);
    m.double(3, "asDouble", exemplar.value);
    if exemplar.trace_id.0 != 0 && exemplar.span_id.0 != 0 {
        m.id(4, "spanId", &exemplar.span_id.0.to_be_bytes());
        m.id(5, "traceId", &exemplar.trace_id.0.to_be_bytes());
    }
}
