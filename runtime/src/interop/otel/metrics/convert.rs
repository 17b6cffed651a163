//! Converts the metrics that the SDK has collected to plain data.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::Temporality as SdkTemporality;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, ExponentialBucket, ExponentialHistogramDataPoint, HistogramDataPoint, Metric, MetricData,
    ResourceMetrics,
};

use crate::declare::metric::MetricKind;
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::interop::otel::convert;
use crate::meter::snapshot::{
    ExponentialBuckets, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Temporality,
};
use crate::record::clock::unix_nanos;

/// Converts all metrics, sorted by scope.
pub(super) fn metrics(read: &ResourceMetrics) -> Vec<MetricPoints> {
    let mut scopes: Vec<_> = read.scope_metrics().collect();
    // The SDK returns scopes in no particular order.
    scopes.sort_by_key(|scope| (scope.scope().name().to_owned(), scope.scope().version().map(str::to_owned)));
    let of_scope = |metrics: &&opentelemetry_sdk::metrics::data::ScopeMetrics| {
        let scope = Arc::new(convert::scope(metrics.scope()));
        metrics.metrics().map(|one| metric(&scope, one)).collect::<Vec<_>>()
    };
    scopes.iter().flat_map(of_scope).collect()
}

fn metric(scope: &Arc<ExternalScope>, metric: &Metric) -> MetricPoints {
    let data = match metric.data() {
        AggregatedMetrics::F64(data) => Data::of(data),
        AggregatedMetrics::U64(data) => Data::of(data),
        AggregatedMetrics::I64(data) => Data::of(data),
    };
    MetricPoints {
        meta: None,
        scope: Some(scope.clone()),
        name: metric.name().to_owned().into(),
        description: metric.description().to_owned().into(),
        unit: metric.unit().to_owned().into(),
        kind: data.kind,
        temporality: data.temporality,
        start_unix_nanos: data.start.map(unix_nanos),
        time_unix_nanos: unix_nanos(data.time),
        points: data.points,
        refused: 0,
    }
}

struct Data {
    kind: MetricKind,
    temporality: Temporality,
    start: Option<SystemTime>,
    time: SystemTime,
    points: Vec<Point>,
}

impl Data {
    fn of<T: Number>(data: &MetricData<T>) -> Self {
        match data {
            MetricData::Gauge(gauge) => Data {
                kind: MetricKind::Gauge,
                temporality: Temporality::Cumulative,
                start: gauge.start_time(),
                time: gauge.time(),
                points: gauge.data_points().map(|at| point(at.attributes(), at.value().value())).collect(),
            },
            MetricData::Sum(sum) => Data {
                kind: if sum.is_monotonic() { MetricKind::Counter } else { MetricKind::UpDownCounter },
                temporality: temporality(sum.temporality()),
                start: Some(sum.start_time()),
                time: sum.time(),
                points: sum.data_points().map(|at| point(at.attributes(), at.value().value())).collect(),
            },
            MetricData::Histogram(all) => Data {
                kind: MetricKind::Histogram,
                temporality: temporality(all.temporality()),
                start: Some(all.start_time()),
                time: all.time(),
                points: all.data_points().map(|at| point(at.attributes(), histogram(at))).collect(),
            },
            MetricData::ExponentialHistogram(all) => Data {
                kind: MetricKind::Histogram,
                temporality: temporality(all.temporality()),
                start: Some(all.start_time()),
                time: all.time(),
                points: all.data_points().map(|at| point(at.attributes(), exponential(at))).collect(),
            },
        }
    }
}

fn point<'a>(from: impl Iterator<Item = &'a KeyValue>, value: PointValue) -> Point {
    Point { labels: attributes(from), value }
}

fn histogram<T: Number>(point: &HistogramDataPoint<T>) -> PointValue {
    // Without values, the SDK's minimum and maximum are those of the number type.
    let some = |extreme: Option<T>| extreme.filter(|_| point.count() > 0).map(T::fraction);
    PointValue::Histogram(HistogramPoint {
        count: point.count(),
        sum: point.sum().fraction(),
        min: some(point.min()),
        max: some(point.max()),
        bounds: interned(point.bounds().collect()),
        counts: point.bucket_counts().collect(),
        exemplars: Vec::new(),
    })
}

fn exponential<T: Number>(point: &ExponentialHistogramDataPoint<T>) -> PointValue {
    let some = |extreme: Option<T>| extreme.filter(|_| point.count() > 0).map(T::fraction);
    let side = |side: &ExponentialBucket| ExponentialBuckets { offset: side.offset(), counts: side.counts().collect() };
    let positive = side(point.positive_bucket());
    PointValue::Exponential(ExponentialPoint {
        count: point.count() as u64,
        sum: point.sum().fraction(),
        min: some(point.min()),
        max: some(point.max()),
        scale: point.scale().into(),
        zero_count: point.zero_count(),
        zero_threshold: point.zero_threshold(),
        offset: positive.offset,
        counts: positive.counts,
        negative: Some(side(point.negative_bucket())),
        exemplars: Vec::new(),
    })
}

/// Returns bounds with a static lifetime. Equal bounds are stored once and never freed: their number is limited by the
/// program's instruments and views, and the SDK does not free instruments.
fn interned(bounds: Vec<f64>) -> &'static [f64] {
    static KNOWN: Mutex<Vec<&'static [f64]>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|known| **known == bounds) {
        return found;
    }
    let new: &'static [f64] = bounds.leak();
    known.push(new);
    new
}

fn temporality(temporality: SdkTemporality) -> Temporality {
    if temporality == SdkTemporality::Delta { Temporality::Delta } else { Temporality::Cumulative }
}

fn attributes<'a, K: From<String>>(from: impl Iterator<Item = &'a KeyValue>) -> Vec<(K, OwnedValue)> {
    from.map(|attribute| (attribute.key.to_string().into(), convert::value(attribute.value.clone()))).collect()
}

/// Number types of instruments.
trait Number: Copy {
    fn value(self) -> PointValue;
    fn fraction(self) -> f64;
}

impl Number for u64 {
    fn value(self) -> PointValue {
        PointValue::U64(self)
    }

    fn fraction(self) -> f64 {
        self as f64
    }
}

impl Number for i64 {
    fn value(self) -> PointValue {
        PointValue::I64(self)
    }

    fn fraction(self) -> f64 {
        self as f64
    }
}

impl Number for f64 {
    fn value(self) -> PointValue {
        PointValue::F64(self)
    }

    fn fraction(self) -> f64 {
        self
    }
}
