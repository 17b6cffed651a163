//! Metrics as one OTLP request: ours, and those of raw OpenTelemetry instruments, by scope.

use crate::declare::label::LabelText;
use crate::declare::metric::MetricKind;
use crate::declare::scope::ForeignScope;
use crate::declare::value::{OwnedValue, Value};
use crate::encode::attribute;
use crate::encode::resource::EncodedResource;
use crate::encode::wire::Wire;
use crate::meter::snapshot::{
    ExemplarPoint, ExponentialPoint, ForeignMetric, ForeignPoint, HistogramPoint, MetricPoints, Point, PointValue,
    Snapshot, Temporality,
};

/// `AGGREGATION_TEMPORALITY_DELTA` and its other.
const DELTA: u8 = 1;
const CUMULATIVE: u8 = 2;

/// An `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    let mut wire = Wire::default();
    let mut request = resource.begin(&mut wire);
    ours(snapshot).for_each(|stream| write_metric(&mut wire, &stream));
    for (scope, metrics) in foreign(snapshot) {
        request.next_scope(&mut wire);
        wire.nested(1, |wire| write_scope(wire, scope));
        metrics.iter().map(Stream::of_foreign).for_each(|stream| write_metric(&mut wire, &stream));
        scope.schema_url.iter().for_each(|url| wire.text(3, url));
    }
    request.end(&mut wire);
    wire.bytes
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
    pub(crate) temporality: u8,
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
    fn field(self) -> u8 {
        match self {
            Form::Gauge => 5,
            Form::Sum => 7,
            Form::Histogram => 9,
            Form::Exponential => 10,
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

/// The value of a sum or gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    /// `None` for a distribution. A count that OTLP's integers cannot hold is the nearest fraction.
    pub(crate) fn of(value: &PointValue) -> Option<Self> {
        Some(match value {
            PointValue::U64(number) => match i64::try_from(*number) {
                Ok(number) => Number::Int(number),
                Err(_) => Number::Double(*number as f64),
            },
            PointValue::I64(number) => Number::Int(*number),
            PointValue::F64(number) => Number::Double(*number),
            PointValue::Histogram(_) | PointValue::Exponential(_) => return None,
        })
    }
}

fn write_scope(wire: &mut Wire, scope: &ForeignScope) {
    wire.text_unless_empty(1, &scope.name);
    scope.version.iter().for_each(|version| wire.text(2, version));
    write_attributes(wire, 3, &scope.attributes);
}

fn write_metric(wire: &mut Wire, stream: &Stream<'_>) {
    let metric = wire.open_long(2);
    wire.text(1, stream.name);
    wire.text_unless_empty(2, stream.description);
    wire.text_unless_empty(3, stream.unit);
    let data = wire.open_long(stream.form.field());
    stream.for_each(|labels, value| write_point(wire, labels, value, stream.times));
    if stream.form != Form::Gauge {
        wire.number(2, u64::from(stream.temporality));
    }
    if stream.form == Form::Sum {
        wire.number(3, u64::from(stream.monotonic));
    }
    wire.close(data);
    wire.close(metric);
}

fn write_point(wire: &mut Wire, labels: Labels<'_>, value: &PointValue, times: Times) {
    wire.nested(1, |wire| {
        if let Some(start) = times.start {
            wire.fixed(2, start);
        }
        wire.fixed(3, times.end);
        match value {
            PointValue::Histogram(value) => {
                write_labels(wire, 9, labels);
                write_histogram(wire, value);
            }
            PointValue::Exponential(value) => {
                write_labels(wire, 1, labels);
                write_exponential(wire, value);
            }
            PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => {
                write_labels(wire, 7, labels);
                write_number(wire, Number::of(value));
            }
        }
    });
}

fn write_labels(wire: &mut Wire, field: u8, labels: Labels<'_>) {
    match labels {
        Labels::Ours(labels) => {
            labels.iter().for_each(|(name, text)| attribute::field(wire, field, name, Value::Str(text)));
        }
        Labels::Foreign(attributes) => write_attributes(wire, field, attributes),
    }
}

fn write_attributes(wire: &mut Wire, field: u8, attributes: &[(String, OwnedValue)]) {
    attributes.iter().for_each(|(key, value)| attribute::field(wire, field, key, value.as_value()));
}

fn write_number(wire: &mut Wire, number: Option<Number>) {
    match number {
        Some(Number::Double(number)) => wire.double(4, number),
        Some(Number::Int(number)) => wire.fixed(6, number as u64),
        None => {}
    }
}

fn write_histogram(wire: &mut Wire, point: &HistogramPoint) {
    wire.fixed(4, point.count);
    wire.double(5, point.sum);
    wire.all_fixed(6, point.counts.iter().copied());
    wire.all_fixed(7, point.bounds.iter().map(|bound| bound.to_bits()));
    point.exemplars.iter().for_each(|exemplar| write_exemplar(wire, 8, exemplar));
    point.min.into_iter().for_each(|min| wire.double(11, min));
    point.max.into_iter().for_each(|max| wire.double(12, max));
}

fn write_exponential(wire: &mut Wire, point: &ExponentialPoint) {
    wire.fixed(4, point.count);
    wire.double(5, point.sum);
    wire.signed(6, point.scale);
    wire.fixed(7, point.zero_count);
    wire.nested(8, |wire| {
        wire.signed(1, point.offset);
        wire.all_varint(2, &point.counts);
    });
    if let Some(negative) = &point.negative {
        wire.nested(9, |wire| {
            wire.signed(1, negative.offset);
            wire.all_varint(2, &negative.counts);
        });
    }
    point.exemplars.iter().for_each(|exemplar| write_exemplar(wire, 11, exemplar));
    point.min.into_iter().for_each(|min| wire.double(12, min));
    point.max.into_iter().for_each(|max| wire.double(13, max));
    wire.double(14, point.zero_threshold);
}

fn write_exemplar(wire: &mut Wire, field: u8, exemplar: &ExemplarPoint) {
    wire.nested(field, |wire| {
        wire.fixed(2, exemplar.time_unix_nanos);
        wire.double(3, exemplar.value);
        if exemplar.trace_id.0 != 0 && exemplar.span_id.0 != 0 {
            wire.field_of_bytes(4, &exemplar.span_id.0.to_be_bytes());
            wire.field_of_bytes(5, &exemplar.trace_id.0.to_be_bytes());
        }
    });
}
