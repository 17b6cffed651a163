//! Collected metrics, ours and those of raw OpenTelemetry instruments: points with their labels, as plain data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
#[cfg(has_otlp)]
use std::mem::Discriminant;
use std::ptr;
use std::sync::Arc;

use crate::declare::amount::{Amount, Measurement};
use crate::declare::cells::{Exemplar, Total, exponential, histogram};
use crate::declare::metric::{Buckets, MetricKind, MetricMeta, NumberType};
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::record::clock::Converter;
use crate::record::ids::{SpanId, TraceId};

/// The moment from which the values of a sum or a histogram count.
///
/// ```standalone_crate
/// use tracecast::prelude::*;
/// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
///
/// tc_metrics! {
///     /// Files that were opened.
///     static OPENED: Counter = "tc_example_opened_total";
/// }
///
/// let metrics = MetricsGuard::start(MetricsConfig::default())?;
/// OPENED.add(1, ());
/// let snapshot = metrics.reader(Temporality::Delta).snapshot();
/// assert_eq!(snapshot.metric("tc_example_opened_total").unwrap().temporality, Temporality::Delta);
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Temporality {
    /// The time at which metrics were switched on.
    Cumulative,
    /// The reader's previous snapshot. Sums that can decrease are cumulative nevertheless.
    Delta,
}

/// All metrics at one point in time.
///
/// ```standalone_crate
/// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
///
/// let metering = MetricsGuard::start(MetricsConfig::default())?;
/// let snapshot = metering.reader(Temporality::Cumulative).snapshot();
/// for metric in &snapshot.metrics {
///     print!("{metric}");
/// }
/// assert!(snapshot.metric("tc_nothing").is_none());
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The time from which counters and histograms count, in nanoseconds since 1970: the reader's previous snapshot for a
    /// delta, otherwise the time at which metrics were switched on.
    pub start_unix_nanos: u64,
    /// The time of the snapshot, in nanoseconds since 1970.
    pub time_unix_nanos: u64,
    /// Metrics that have points or rejected measurements: ours by name, then those of raw OpenTelemetry instruments by
    /// scope.
    pub metrics: Vec<MetricPoints>,
}

/// The points of one metric: one of ours, a raw OpenTelemetry instrument, or a stream that a view creates from it.
///
/// ```
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Files that were opened.
///     static OPENED: Counter = "tc_example_opened_total";
/// }
///
/// let captured = tracecast::testing::capture(|| OPENED.add(2, ()));
/// let metric = &captured.metrics[0];
/// assert_eq!((&*metric.name, metric.points.len()), ("tc_example_opened_total", 1));
/// assert_eq!(metric.description, "Files that were opened.");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MetricPoints {
    /// The declaration, if the metric is ours.
    pub(crate) meta: Option<&'static MetricMeta>,
    /// The scope, if the metric is a raw OpenTelemetry instrument.
    pub(crate) scope: Option<Arc<ExternalScope>>,
    /// The name: the declared one, unless a view changes it.
    pub name: Cow<'static, str>,
    /// The description: the declared one, unless a view changes it.
    pub description: Cow<'static, str>,
    /// The UCUM unit; may be empty.
    pub unit: Cow<'static, str>,
    /// The kind. A sum of a raw instrument that only grows is a counter.
    pub kind: MetricKind,
    /// The moment from which the values count.
    pub temporality: Temporality,
    /// The time from which the values count, in nanoseconds since 1970; `None` for our gauges.
    pub start_unix_nanos: Option<u64>,
    /// The time at which the metric was read.
    #[cfg_attr(not(has_otlp), expect(dead_code, reason = "only exporters read it"))]
    pub(crate) time_unix_nanos: u64,
    /// One point for each label set that was used; in a delta, for each one with new measurements.
    pub points: Vec<Point>,
    /// The number of measurements that were rejected since the process began, such as NaN, infinite, or negative where
    /// not allowed.
    pub refused: u64,
}

/// One series at one point in time.
///
/// ```
/// use tracecast::keys::tensor::{SourceType, source};
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Files that were read.
///     static READ: Counter<(source,)> = "tc_example_files_total";
/// }
///
/// let captured = tracecast::testing::capture(|| READ.add(2, (SourceType::Disk,)));
/// let point = &captured.metrics[0].points[0];
/// assert_eq!(point.labels, [("tc.source.type".into(), "disk".into())]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The names and values of the labels; values are texts for our metrics, and of any type for a raw instrument. If a
    /// raw instrument exceeds its limit of series, further series are combined into one with the label
    /// `otel.metric.overflow`.
    pub labels: Vec<(Cow<'static, str>, OwnedValue)>,
    /// The value.
    pub value: PointValue,
}

/// The value of a series.
///
/// ```
/// use tracecast::testing::PointValue;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// Files that were closed.
///     static CLOSED: Counter = "tc_example_closed_total";
/// }
///
/// let captured = tracecast::testing::capture(|| CLOSED.add(2, ()));
/// assert_eq!(captured.metric("tc_example_closed_total", &[]), Some(&PointValue::U64(2)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PointValue {
    /// An unsigned integer.
    U64(u64),
    /// A signed integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
    /// A distribution over explicit buckets.
    Histogram(HistogramPoint),
    /// A distribution over exponential buckets.
    Exponential(ExponentialPoint),
}

/// A distribution over explicit buckets.
///
/// ```
/// use tracecast::testing::PointValue;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// How long a write takes.
///     static WRITE: Histogram = "tc_example_write_seconds" { buckets: [0.1, 1, 10] };
/// }
///
/// let captured = tracecast::testing::capture(|| WRITE.record(0.25, ()));
/// let Some(PointValue::Histogram(point)) = captured.metric("tc_example_write_seconds", &[]) else { panic!() };
/// assert_eq!((point.bounds, &point.counts[..]), (&[0.1, 1.0, 10.0][..], &[0, 1, 0, 0][..]));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistogramPoint {
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub sum: f64,
    /// The smallest value; `None` if it is not known, as in a delta.
    pub min: Option<f64>,
    /// The largest value; `None` if it is not known, as in a delta.
    pub max: Option<f64>,
    /// The inclusive upper bounds of all buckets except the last.
    pub bounds: &'static [f64],
    /// The number of values in each bucket.
    pub counts: Vec<u64>,
    /// Measurements since the reader's last snapshot, at most one per bucket, with their spans.
    pub exemplars: Vec<ExemplarPoint>,
}

/// A distribution over buckets whose bounds are powers of `2^(2^-scale)`.
///
/// ```
/// use tracecast::testing::PointValue;
/// use tracecast::prelude::*;
///
/// tc_metrics! {
///     /// How large files are.
///     static SIZE: Histogram<(), u64> = "tc_example_file_bytes" { exponential };
/// }
///
/// let captured = tracecast::testing::capture(|| SIZE.record(4096_u64, ()));
/// let Some(PointValue::Exponential(point)) = captured.metric("tc_example_file_bytes", &[]) else { panic!() };
/// assert_eq!((point.count, point.sum), (1, 4096.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExponentialPoint {
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub sum: f64,
    /// The smallest value; `None` if it is not known, as in a delta.
    pub min: Option<f64>,
    /// The largest value; `None` if it is not known, as in a delta.
    pub max: Option<f64>,
    /// The resolution: there are `2^scale` buckets per power of two.
    pub(crate) scale: i32,
    /// The number of values up to `zero_threshold`.
    pub(crate) zero_count: u64,
    /// The largest value that counts as zero.
    pub(crate) zero_threshold: f64,
    /// The exponent of the lower bound of the first bucket.
    pub(crate) offset: i32,
    /// The number of values in each bucket, beginning with the first.
    pub(crate) counts: Vec<u64>,
    /// The buckets of negative values, which only raw OpenTelemetry instruments have.
    pub(crate) negative: Option<ExponentialBuckets>,
    /// Measurements since the reader's last snapshot, at most one per bucket, with their spans.
    pub exemplars: Vec<ExemplarPoint>,
}

/// The buckets of the negative values in an exponential histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExponentialBuckets {
    /// The exponent of the first bucket's bound towards zero.
    pub(crate) offset: i32,
    /// The number of values in each bucket, beginning with the first.
    pub(crate) counts: Vec<u64>,
}

/// A measurement and the span in which it was made.
///
/// ```standalone_crate
/// use tracecast::prelude::*;
/// use tracecast::testing::{Exemplars, MetricsConfig, MetricsGuard, PointValue, Temporality};
///
/// tc_metrics! {
///     /// How long a read takes.
///     static READ: Histogram = "tc_read_seconds" { buckets: [0.1, 1] };
/// }
///
/// let metering = MetricsGuard::start(MetricsConfig::default().with_exemplars(Exemplars::Everywhere))?;
/// READ.record(0.25, ());
/// let snapshot = metering.reader(Temporality::Cumulative).snapshot();
/// let Some(PointValue::Histogram(point)) = snapshot.value("tc_read_seconds", &[]) else { panic!() };
/// assert_eq!(point.exemplars[0].value, 0.25);
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExemplarPoint {
    /// The measured value.
    pub value: f64,
    /// The time of the measurement, in nanoseconds since 1970.
    pub time_unix_nanos: u64,
    /// The trace of the measurement; all zeros if there is none.
    pub trace_id: TraceId,
    /// The span of the measurement; all zeros if there is none.
    pub span_id: SpanId,
}

/// The largest number of buckets in an exported exponential histogram, as the specification of OpenTelemetry
/// recommends.
const MOST_BUCKETS: usize = 160;

impl Snapshot {
    /// Returns the metric with this name, the first one if there are several; `None` if there is none.
    ///
    /// ```standalone_crate
    /// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
    ///
    /// tracecast::tc_metrics! {
    ///     /// Files that were found.
    ///     static FOUND: Counter = "tc_files_found_total";
    /// }
    ///
    /// let metering = MetricsGuard::start(MetricsConfig::default())?;
    /// FOUND.add(2, ());
    /// let snapshot = metering.reader(Temporality::Cumulative).snapshot();
    /// assert_eq!(snapshot.metric("tc_files_found_total").unwrap().points.len(), 1);
    /// # Ok::<(), tracecast::MetricsError>(())
    /// ```
    pub fn metric(&self, name: &str) -> Option<&MetricPoints> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Returns the value of the metric with this name and exactly these labels, in any order; `None` if there is none.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<&PointValue> {
        self.metric(name)?.value(labels)
    }

    /// Returns the number of points of all metrics.
    #[cfg(has_otlp)]
    pub(crate) fn points(&self) -> u64 {
        self.metrics.iter().map(|metric| metric.points.len() as u64).sum()
    }
}

impl MetricPoints {
    /// Creates a metric without points from its declaration.
    pub(crate) fn new(meta: &'static MetricMeta, temporality: Temporality, start: u64, time_unix_nanos: u64) -> Self {
        MetricPoints {
            meta: Some(meta),
            scope: None,
            name: Cow::Borrowed(meta.name),
            description: Cow::Borrowed(meta.description),
            unit: Cow::Borrowed(meta.unit),
            kind: meta.kind,
            temporality,
            start_unix_nanos: (meta.kind != MetricKind::Gauge).then_some(start),
            time_unix_nanos,
            points: Vec::new(),
            refused: 0,
        }
    }

    /// Returns the value of the point with exactly these labels, in any order; `None` if there is none. The values of
    /// labels are compared as text.
    pub fn value(&self, labels: &[(&str, &str)]) -> Option<&PointValue> {
        let is = |value: &OwnedValue, text: &str| match value {
            OwnedValue::Str(value) => value == text,
            value => value.to_string() == text,
        };
        let has = |point: &&Point| {
            point.labels.len() == labels.len()
                && labels
                    .iter()
                    .all(|(name, text)| point.labels.iter().any(|(key, value)| key == name && is(value, text)))
        };
        self.points.iter().find(has).map(|point| &point.value)
    }
}

/// The identity of a series within its metric: names, types and texts of its labels.
#[cfg(has_otlp)]
pub(crate) type Series = Vec<(Cow<'static, str>, Discriminant<OwnedValue>, String)>;

#[cfg(has_otlp)]
impl Point {
    /// Returns the identity of the series, independent of the order of its labels.
    pub(crate) fn series(&self) -> Series {
        let label = |(name, value): &(Cow<'static, str>, OwnedValue)| {
            (name.clone(), std::mem::discriminant(value), value.to_string())
        };
        let mut labels: Vec<_> = self.labels.iter().map(label).collect();
        labels.sort_by(|one, other| one.0.cmp(&other.0));
        labels
    }
}

impl PointValue {
    /// Returns the value of a sum or a gauge as an `f64`, or the count of a histogram.
    ///
    /// ```
    /// use tracecast::testing::PointValue;
    ///
    /// assert_eq!(PointValue::U64(7).as_f64(), 7.0);
    /// ```
    pub fn as_f64(&self) -> f64 {
        match self {
            PointValue::U64(value) => *value as f64,
            PointValue::I64(value) => *value as f64,
            PointValue::F64(value) => *value,
            PointValue::Histogram(point) => point.count as f64,
            PointValue::Exponential(point) => point.count as f64,
        }
    }
}

/// Creates the point of a histogram, with minimum and maximum if `extremes` is set.
pub(crate) fn distribution(
    meta: &MetricMeta,
    total: Total,
    extremes: bool,
    exemplars: Vec<ExemplarPoint>,
) -> PointValue {
    let number = |bits: u64| if meta.is_f64() { f64::from_bits(bits) } else { bits as f64 };
    let count = total.counts.iter().sum();
    let sum = if meta.is_f64() { f64::from_bits(total.sum) } else { total.sum as f64 };
    let extremes = extremes && total.most != 0 && total.least != u64::MAX;
    let (min, max) = (extremes.then(|| number(total.least)), extremes.then(|| number(total.most - 1)));
    match meta.buckets {
        Buckets::Explicit(bounds) => {
            PointValue::Histogram(HistogramPoint { count, sum, min, max, bounds, counts: total.counts, exemplars })
        }
        Buckets::Exponential => {
            let first = histogram::first_exponent(meta);
            let scaled = exponential::scaled(&total.counts[1..], first, MOST_BUCKETS);
            PointValue::Exponential(ExponentialPoint {
                count,
                sum,
                min,
                max,
                scale: scaled.scale,
                zero_count: total.counts[0],
                zero_threshold: 2_f64.powi(first),
                offset: scaled.offset,
                counts: scaled.counts,
                negative: None,
                exemplars,
            })
        }
    }
}

impl ExemplarPoint {
    pub(crate) fn of(exemplar: &Exemplar, converter: &Converter) -> Self {
        ExemplarPoint {
            value: exemplar.value,
            time_unix_nanos: converter.unix_nanos(exemplar.ticks),
            trace_id: TraceId(exemplar.trace_id),
            span_id: SpanId(exemplar.span_id),
        }
    }
}

/// Creates the points of a captured test's measurements.
pub(crate) fn of_measurements(measurements: &[Measurement]) -> Vec<MetricPoints> {
    type Sets = BTreeMap<usize, Vec<Amount>>;
    // Declarations of one name with different shapes are kept apart, because the index of a label set differs.
    let mut series: BTreeMap<&str, Vec<(&'static MetricMeta, Sets)>> = BTreeMap::new();
    for Measurement { meta, set, amount } in measurements {
        let shapes = series.entry(meta.name).or_default();
        let known = shapes.iter().position(|(known, _)| ptr::eq(*known, *meta) || known.same_shape(meta));
        let shape = known.unwrap_or_else(|| {
            shapes.push((meta, BTreeMap::new()));
            shapes.len() - 1
        });
        shapes[shape].1.entry(*set).or_default().push(*amount);
    }
    let points = |meta: &'static MetricMeta, sets: Sets| {
        let point = |(set, amounts): (usize, Vec<Amount>)| {
            Some(Point { labels: meta.labels_of(set), value: of_amounts(meta, &amounts)? })
        };
        sets.into_iter().filter_map(point).collect()
    };
    series
        .into_values()
        .flatten()
        .map(|(meta, sets)| MetricPoints {
            points: points(meta, sets),
            ..MetricPoints::new(meta, Temporality::Cumulative, 0, 0)
        })
        .collect()
}

fn of_amounts(meta: &MetricMeta, amounts: &[Amount]) -> Option<PointValue> {
    let whole = |amount: &Amount| match amount {
        Amount::U64(value) => *value as i64,
        Amount::I64(value) => *value,
        Amount::F64(_) | Amount::Gone => 0,
    };
    match meta.kind {
        MetricKind::Gauge => match amounts.last()? {
            Amount::U64(value) => Some(PointValue::U64(*value)),
            Amount::I64(value) => Some(PointValue::I64(*value)),
            Amount::F64(value) => Some(PointValue::F64(*value)),
            Amount::Gone => None,
        },
        MetricKind::Histogram => {
            let mut total = Total::new(histogram::buckets(meta));
            for amount in amounts {
                match amount {
                    Amount::U64(value) => total.record(meta, *value),
                    Amount::F64(value) => total.record(meta, *value),
                    Amount::I64(_) | Amount::Gone => {}
                }
            }
            Some(distribution(meta, total, true, Vec::new()))
        }
        MetricKind::Counter | MetricKind::UpDownCounter => Some(match meta.number {
            NumberType::U64 => PointValue::U64(amounts.iter().map(whole).fold(0, i64::wrapping_add) as u64),
            NumberType::I64 => PointValue::I64(amounts.iter().map(whole).fold(0, i64::wrapping_add)),
            NumberType::F64 => PointValue::F64(
                amounts.iter().map(|amount| if let Amount::F64(value) = amount { *value } else { 0.0 }).sum(),
            ),
        }),
    }
}

/// Prints one line per series: `name{label=text, ..} value`. Only the count of a distribution is printed.
impl fmt::Display for MetricPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Point { labels, value } in &self.points {
            let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            f.write_str(&self.name)?;
            if !labels.is_empty() {
                write!(f, "{{{}}}", labels.join(", "))?;
            }
            writeln!(f, " {value}")?;
        }
        Ok(())
    }
}

/// Prints a number, or `count=` and the count of a distribution.
impl fmt::Display for PointValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointValue::U64(value) => write!(f, "{value}"),
            PointValue::I64(value) => write!(f, "{value}"),
            PointValue::F64(value) => write!(f, "{value}"),
            PointValue::Histogram(HistogramPoint { count, .. })
            | PointValue::Exponential(ExponentialPoint { count, .. }) => write!(f, "count={count}"),
        }
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metrics.iter().try_for_each(|metric| metric.fmt(f))
    }
}
