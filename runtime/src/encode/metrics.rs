//! Metrics as one OTLP request: ours, and those of raw OpenTelemetry instruments, by scope.

use crate::declare::label::LabelText;
use crate::declare::metric::MetricKind;
use crate::declare::value::{OwnedValue, Value};
use crate::encode::message::Message;
use crate::encode::resource::{self, EncodedResource};
use crate::encode::wire::Wire;
use crate::meter::snapshot::{
    ExemplarPoint, ExponentialPoint, ForeignMetric, ForeignPoint, ForeignScope, HistogramPoint, MetricPoints, Point,
    PointValue, Snapshot, Temporality,
};

/// `AGGREGATION_TEMPORALITY_DELTA` and its other.
const DELTA: u32 = 1;
const CUMULATIVE: u32 = 2;

/// An `ExportMetricsServiceRequest` with all points of a snapshot, as protocol buffers.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    request::<Wire>(resource, snapshot)
}

/// The same in either form.
pub(crate) fn request<M: Message>(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    resource.request(["resourceMetrics", "scopeMetrics"], Vec::new(), |m: &mut M| {
        m.long_element(2, |m| {
            resource::own_scope(m);
            metrics(m, ours(snapshot));
        });
        for (scope, of_scope) in foreign(snapshot) {
            m.long_element(2, |m| {
                resource::scope(m, &scope.name, scope.version.as_deref(), &scope.attributes);
                metrics(m, of_scope.iter().map(Stream::of_foreign));
                scope.schema_url.iter().for_each(|url| m.string(3, "schemaUrl", url));
            });
        }
    })
}

/// Metrics that are worth sending: one that only refused measurements has no points.
pub(crate) fn ours(snapshot: &Snapshot) -> impl Iterator<Item = Stream<'_>> {
    let with_points = snapshot.metrics.iter().filter(|metric| !metric.points.is_empty());
    with_points.map(|metric| Stream::of_ours(snapshot, metric))
}

/// Metrics of raw OpenTelemetry instruments, by scope.
pub(crate) fn foreign(snapshot: &Snapshot) -> impl Iterator<Item = (&ForeignScope, &[ForeignMetric])> {
    let scopes = snapshot.foreign.chunk_by(|one, next| one.scope == next.scope);
    scopes.filter_map(|metrics| Some((&*metrics.first()?.scope, metrics)))
}

/// A metric on its way to the wire, whoever made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) form: Form,
    pub(crate) temporality: u32,
    pub(crate) monotonic: bool,
    pub(crate) times: Times,
    points: Points<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Points<'a> {
    Ours(&'a [Point]),
    Foreign(&'a [ForeignPoint]),
}

/// What tells a series from others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Labels<'a> {
    Ours(&'a [(&'static str, LabelText)]),
    Foreign(&'a [(String, OwnedValue)]),
}

/// The form that a metric takes in OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Gauge,
    Sum,
    Histogram,
    Exponential,
}

impl Form {
    fn of(kind: MetricKind, value: Option<&PointValue>) -> Self {
        match (kind, value) {
            (MetricKind::Gauge, _) => Form::Gauge,
            (MetricKind::Counter | MetricKind::UpDownCounter, _) => Form::Sum,
            (MetricKind::Histogram, Some(PointValue::Exponential(_))) => Form::Exponential,
            (MetricKind::Histogram, _) => Form::Histogram,
        }
    }

    /// The field of a metric that holds it.
    fn field(self) -> (u8, &'static str) {
        match self {
            Form::Gauge => (5, "gauge"),
            Form::Sum => (7, "sum"),
            Form::Histogram => (9, "histogram"),
            Form::Exponential => (10, "exponentialHistogram"),
        }
    }
}

/// From when to when a point counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Nothing for a gauge, which does not count from anywhere.
    pub(crate) start: Option<u64>,
    pub(crate) end: u64,
}

impl<'a> Stream<'a> {
    fn of_ours(snapshot: &Snapshot, metric: &'a MetricPoints) -> Self {
        let kind = metric.meta.kind;
        let start = (kind != MetricKind::Gauge).then_some(metric.start_unix_nanos);
        Stream {
            name: &metric.name,
            description: &metric.description,
            unit: metric.meta.unit,
            form: Form::of(kind, metric.points.first().map(|point| &point.value)),
            // Sums that can shrink always count from the beginning.
            temporality: match snapshot.temporality {
                Temporality::Delta | Temporality::LowMemory if kind != MetricKind::UpDownCounter => DELTA,
                _ => CUMULATIVE,
            },
            monotonic: kind == MetricKind::Counter,
            times: Times { start, end: snapshot.time_unix_nanos },
            points: Points::Ours(&metric.points),
        }
    }

    pub(crate) fn of_foreign(metric: &'a ForeignMetric) -> Self {
        Stream {
            name: &metric.name,
            description: &metric.description,
            unit: &metric.unit,
            form: Form::of(metric.kind, metric.points.first().map(|point| &point.value)),
            temporality: if metric.temporality == Temporality::Delta { DELTA } else { CUMULATIVE },
            monotonic: metric.kind == MetricKind::Counter,
            times: Times { start: metric.start_unix_nanos, end: metric.time_unix_nanos },
            points: Points::Foreign(&metric.points),
        }
    }

    /// Hands each point to `f`.
    pub(crate) fn for_each(&self, mut f: impl FnMut(Labels<'a>, &'a PointValue)) {
        match self.points {
            Points::Ours(points) => points.iter().for_each(|point| f(Labels::Ours(&point.labels), &point.value)),
            Points::Foreign(points) => {
                points.iter().for_each(|point| f(Labels::Foreign(&point.attributes), &point.value));
            }
        }
    }
}

fn metrics<'a>(m: &mut impl Message, streams: impl Iterator<Item = Stream<'a>>) {
    m.list("metrics", |m| streams.for_each(|stream| m.long_element(2, |m| metric(m, &stream))));
}

fn metric(m: &mut impl Message, stream: &Stream<'_>) {
    m.string(1, "name", stream.name);
    m.string_unless_empty(2, "description", stream.description);
    m.string_unless_empty(3, "unit", stream.unit);
    let (field, name) = stream.form.field();
    m.long_message(field, name, |m| {
        m.list("dataPoints", |m| {
            stream.for_each(|labels, value| m.element(1, |m| point(m, labels, value, stream.times)));
        });
        if stream.form != Form::Gauge {
            m.uint32(2, "aggregationTemporality", stream.temporality);
        }
        if stream.form == Form::Sum {
            m.boolean(3, "isMonotonic", stream.monotonic);
        }
    });
}

fn point(m: &mut impl Message, labels: Labels<'_>, value: &PointValue, times: Times) {
    if let Some(start) = times.start {
        m.fixed64(2, "startTimeUnixNano", start);
    }
    m.fixed64(3, "timeUnixNano", times.end);
    match value {
        PointValue::Histogram(value) => {
            attributes(m, 9, labels);
            histogram(m, value);
        }
        PointValue::Exponential(value) => {
            attributes(m, 1, labels);
            exponential(m, value);
        }
        PointValue::U64(value) => {
            attributes(m, 7, labels);
            match i64::try_from(*value) {
                Ok(value) => m.sfixed64(6, "asInt", value),
                // The nearest fraction, as OTLP's integers cannot hold it.
                Err(_) => m.double(4, "asDouble", *value as f64),
            }
        }
        PointValue::I64(value) => {
            attributes(m, 7, labels);
            m.sfixed64(6, "asInt", *value);
        }
        PointValue::F64(value) => {
            attributes(m, 7, labels);
            m.double(4, "asDouble", *value);
        }
    }
}

fn attributes(m: &mut impl Message, field: u8, labels: Labels<'_>) {
    m.list("attributes", |m| match labels {
        Labels::Ours(labels) => labels.iter().for_each(|(name, text)| m.key_value(field, name, Value::Str(text))),
        Labels::Foreign(attributes) => {
            attributes.iter().for_each(|(key, value)| m.key_value(field, key, value.as_value()));
        }
    });
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
