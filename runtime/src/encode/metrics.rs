//! Metrics as one OTLP request.

use crate::encode::attribute::{self, Scalar};
use crate::encode::resource::EncodedResource;
use crate::encode::wire::Wire;
use crate::metric::{Buckets, MetricKind};
use crate::snapshot::{
    ExemplarPoint, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot, Temporality,
};

/// `AGGREGATION_TEMPORALITY_DELTA` and its other.
const DELTA: u8 = 1;
const CUMULATIVE: u8 = 2;

/// An `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    let mut wire = Wire::default();
    let request = resource.begin(&mut wire);
    for metric in with_points(snapshot) {
        let opened = wire.open_long(2);
        write_metric(&mut wire, snapshot, metric);
        wire.close(opened);
    }
    request.end(&mut wire);
    wire.bytes
}

/// Metrics that are worth sending: one that only refused measurements has no points.
pub(crate) fn with_points(snapshot: &Snapshot) -> impl Iterator<Item = &MetricPoints> {
    snapshot.metrics.iter().filter(|metric| !metric.points.is_empty())
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
    pub(crate) fn of(metric: &MetricPoints) -> Self {
        match (metric.meta.kind, metric.meta.buckets) {
            (MetricKind::Gauge, _) => Form::Gauge,
            (MetricKind::Counter | MetricKind::UpDownCounter, _) => Form::Sum,
            (MetricKind::Histogram, Buckets::Explicit(_)) => Form::Histogram,
            (MetricKind::Histogram, Buckets::Exponential) => Form::Exponential,
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

/// What the points of a metric count from. Sums that can shrink always count from the beginning.
pub(crate) fn temporality(snapshot: &Snapshot, metric: &MetricPoints) -> u8 {
    match snapshot.temporality {
        Temporality::Delta if metric.meta.kind != MetricKind::UpDownCounter => DELTA,
        Temporality::Delta | Temporality::Cumulative => CUMULATIVE,
    }
}

pub(crate) fn is_monotonic(metric: &MetricPoints) -> bool {
    metric.meta.kind == MetricKind::Counter
}

/// From when to when a point counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Nothing for a gauge, which does not count from anywhere.
    pub(crate) start: Option<u64>,
    pub(crate) end: u64,
}

impl Times {
    pub(crate) fn of(snapshot: &Snapshot, metric: &MetricPoints) -> Self {
        let start = (metric.meta.kind != MetricKind::Gauge).then_some(metric.start_unix_nanos);
        Times { start, end: snapshot.time_unix_nanos }
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

fn write_metric(wire: &mut Wire, snapshot: &Snapshot, metric: &MetricPoints) {
    wire.text(1, metric.meta.name);
    wire.text_unless_empty(2, metric.meta.description);
    wire.text_unless_empty(3, metric.meta.unit);
    let form = Form::of(metric);
    let opened = wire.open_long(form.field());
    let times = Times::of(snapshot, metric);
    metric.points.iter().for_each(|point| write_point(wire, point, times));
    if form != Form::Gauge {
        wire.number(2, u64::from(temporality(snapshot, metric)));
    }
    if form == Form::Sum {
        wire.number(3, u64::from(is_monotonic(metric)));
    }
    wire.close(opened);
}

fn write_point(wire: &mut Wire, point: &Point, times: Times) {
    wire.nested(1, |wire| {
        if let Some(start) = times.start {
            wire.fixed(2, start);
        }
        wire.fixed(3, times.end);
        match &point.value {
            PointValue::Histogram(value) => {
                write_labels(wire, 9, point);
                write_histogram(wire, value);
            }
            PointValue::Exponential(value) => {
                write_labels(wire, 1, point);
                write_exponential(wire, value);
            }
            PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => {
                write_labels(wire, 7, point);
                write_number(wire, Number::of(&point.value));
            }
        }
    });
}

fn write_labels(wire: &mut Wire, field: u8, point: &Point) {
    for (name, text) in &point.labels {
        attribute::field(wire, field, name, Scalar::Str(text));
    }
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
    point.exemplars.iter().for_each(|exemplar| write_exemplar(wire, 11, exemplar));
    point.min.into_iter().for_each(|min| wire.double(12, min));
    point.max.into_iter().for_each(|max| wire.double(13, max));
    wire.double(14, point.zero_threshold);
}

fn write_exemplar(wire: &mut Wire, field: u8, exemplar: &ExemplarPoint) {
    wire.nested(field, |wire| {
        wire.fixed(2, exemplar.time_unix_nanos);
        wire.double(3, exemplar.value);
        wire.field_of_bytes(4, &exemplar.span_id.0.to_be_bytes());
        wire.field_of_bytes(5, &exemplar.trace_id.0.to_be_bytes());
    });
}
