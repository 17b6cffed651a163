//! What is sent of metrics is read back by a decoder of others, field by field: each kind, both temporalities, also as JSON.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram, HistogramDataPoint, Metric,
    NumberDataPoint, Sum, exemplar, exponential_histogram_data_point::Buckets, metric::Data, number_data_point,
};
use prost::Message;
use tracecast::__bench::{Encoder, ExponentialParts};
use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{
    ExemplarPoint, Exemplars, MetricPoints, MetricsConfig, MetricsGuard, Point, PointValue, Reader, RecordingConfig,
    Snapshot, Temporality,
};

use crate::kit::Random;
use crate::turn::{start_recording, turn};

tc_metrics! {
    /// Things that were counted.
    static COUNTED: Counter<(source, device)> = "tc_counted_total";
    /// Joules that were counted.
    static ENERGY: Counter<(), f64> = "tc_energy_joules_total";
    /// What is there.
    static LEVEL: UpDownCounter<(source,)> = "tc_level";
    /// How warm it is.
    static WARMTH: Gauge<(device,)> = "tc_warmth_celsius";
    /// How full it is.
    static FILL: Gauge<(), i64> = "tc_fill";
    /// Sizes.
    static SIZES: Histogram<(source,), u64> = "tc_sizes_bytes";
    /// Times.
    static TIMES: Histogram = "tc_times_seconds" { exponential };
}

/// Measures random amounts, within a span, so that there are exemplars.
#[tc_span("Metrics/Work")]
fn measure(random: &mut Random) {
    for _ in 0..random.below(40) {
        let from = if random.below(2) == 0 { SourceType::Disk } else { SourceType::Remote };
        COUNTED.add(random.below(1_000), (from, random.below(20)));
        ENERGY.add(random.fraction(), ());
        LEVEL.add(random.below(9) as i64 - 4, (from,));
        WARMTH.set(random.fraction() - 20.0, (random.below(3),));
        FILL.set(random.below(9) as i64 - 4, ());
        SIZES.record(random.number() >> 20, (from,));
        TIMES.record(random.fraction() * random.number() as f64 * 1e-9, ());
    }
}

impl Random {
    fn fraction(&mut self) -> f64 {
        self.below(1 << 40) as f64 / 1e9
    }
}

fn key_values(point: &Point) -> Vec<KeyValue> {
    let key_value = |(name, text): &(std::borrow::Cow<'static, str>, tracecast::OwnedValue)| KeyValue {
        key: name.to_string(),
        value: Some(AnyValue { value: Some(any_value::Value::StringValue(text.to_string())) }),
        ..KeyValue::default()
    };
    point.labels.iter().map(key_value).collect()
}

fn exemplars(points: &[ExemplarPoint]) -> Vec<Exemplar> {
    let exemplar = |point: &ExemplarPoint| Exemplar {
        filtered_attributes: Vec::new(),
        time_unix_nano: point.time_unix_nanos,
        span_id: if point.span_id.0 == 0 { Vec::new() } else { point.span_id.0.to_be_bytes().to_vec() },
        trace_id: if point.trace_id.0 == 0 { Vec::new() } else { point.trace_id.0.to_be_bytes().to_vec() },
        value: Some(exemplar::Value::AsDouble(point.value)),
    };
    points.iter().map(exemplar).collect()
}

/// What OTLP says of a metric, by hand.
fn expected(asked: Temporality, snapshot: &Snapshot, metric: &MetricPoints) -> Metric {
    let name = &*metric.name;
    let shrinks = name == "tc_level";
    let temporality = if asked == Temporality::Delta && !shrinks { 1 } else { 2 };
    let (start, time) = (metric.start_unix_nanos.unwrap_or(0), snapshot.time_unix_nanos);
    let numbers = |start| metric.points.iter().map(|point| number(point, start, time)).collect();
    let data = match name {
        "tc_counted_total" | "tc_energy_joules_total" | "tc_level" => {
            Data::Sum(Sum { data_points: numbers(start), aggregation_temporality: temporality, is_monotonic: !shrinks })
        }
        "tc_warmth_celsius" | "tc_fill" => Data::Gauge(Gauge { data_points: numbers(0) }),
        "tc_sizes_bytes" => {
            let data_points = metric.points.iter().map(|point| histogram(point, start, time)).collect();
            Data::Histogram(Histogram { data_points, aggregation_temporality: temporality })
        }
        "tc_times_seconds" => {
            let data_points = metric.points.iter().map(|point| exponential(point, start, time)).collect();
            Data::ExponentialHistogram(ExponentialHistogram { data_points, aggregation_temporality: temporality })
        }
        other => panic!("{other}"),
    };
    let (unit, description) = match name {
        "tc_counted_total" => ("", "Things that were counted."),
        "tc_energy_joules_total" => ("J", "Joules that were counted."),
        "tc_level" => ("", "What is there."),
        "tc_warmth_celsius" => ("Cel", "How warm it is."),
        "tc_fill" => ("", "How full it is."),
        "tc_sizes_bytes" => ("By", "Sizes."),
        _ => ("s", "Times."),
    };
    Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        metadata: Vec::new(),
        data: Some(data),
    }
}

fn number(point: &Point, start: u64, time: u64) -> NumberDataPoint {
    let value = match point.value {
        PointValue::U64(number) if number > i64::MAX as u64 => number_data_point::Value::AsDouble(number as f64),
        PointValue::U64(number) => number_data_point::Value::AsInt(number as i64),
        PointValue::I64(number) => number_data_point::Value::AsInt(number),
        PointValue::F64(number) => number_data_point::Value::AsDouble(number),
        _ => panic!("{point:?}"),
    };
    NumberDataPoint {
        attributes: key_values(point),
        start_time_unix_nano: start,
        time_unix_nano: time,
        exemplars: Vec::new(),
        flags: 0,
        value: Some(value),
    }
}

fn histogram(point: &Point, start: u64, time: u64) -> HistogramDataPoint {
    let PointValue::Histogram(value) = &point.value else { panic!("{point:?}") };
    HistogramDataPoint {
        attributes: key_values(point),
        start_time_unix_nano: start,
        time_unix_nano: time,
        count: value.count,
        sum: Some(value.sum),
        bucket_counts: value.counts.clone(),
        explicit_bounds: value.bounds.to_vec(),
        exemplars: exemplars(&value.exemplars),
        flags: 0,
        min: value.min,
        max: value.max,
    }
}

fn exponential(point: &Point, start: u64, time: u64) -> ExponentialHistogramDataPoint {
    let PointValue::Exponential(value) = &point.value else { panic!("{point:?}") };
    let mut copy = value.clone();
    let parts = ExponentialParts::of(&mut copy);
    ExponentialHistogramDataPoint {
        attributes: key_values(point),
        start_time_unix_nano: start,
        time_unix_nano: time,
        count: value.count,
        sum: Some(value.sum),
        scale: *parts.scale,
        zero_count: *parts.zero_count,
        positive: Some(Buckets { offset: *parts.offset, bucket_counts: parts.counts.clone() }),
        negative: None,
        flags: 0,
        exemplars: exemplars(&value.exemplars),
        min: value.min,
        max: value.max,
        zero_threshold: *parts.zero_threshold,
    }
}

fn metrics_of(request: ExportMetricsServiceRequest) -> Vec<Metric> {
    let [resource] = <[_; 1]>::try_from(request.resource_metrics).expect("one resource");
    assert_eq!(resource.resource.expect("a resource").attributes.len(), 3);
    // A request without metrics has no scope.
    assert!(resource.scope_metrics.len() <= 1, "two scopes");
    let Some(scope) = resource.scope_metrics.into_iter().next() else { return Vec::new() };
    assert_eq!(scope.scope.expect("a scope").name, env!("CARGO_PKG_NAME"));
    scope.metrics
}

/// Compares both ways.
fn check(asked: Temporality, snapshot: &Snapshot) {
    let encoder = Encoder::new("metrics");
    let with_points = snapshot.metrics.iter().filter(|metric| !metric.points.is_empty());
    let expected: Vec<_> = with_points.map(|metric| expected(asked, snapshot, metric)).collect();
    let protobuf = ExportMetricsServiceRequest::decode(&encoder.metrics(snapshot)[..]).expect("protocol buffers");
    let json = serde_json::from_slice(&encoder.metrics_json(snapshot)).expect("JSON");
    for (way, request) in [("protobuf", protobuf), ("JSON", json)] {
        let decoded = metrics_of(request);
        assert_eq!(decoded.len(), expected.len(), "{way}");
        for (decoded, expected) in decoded.iter().zip(&expected) {
            assert_eq!(decoded, expected, "{way}");
        }
    }
}

/// A snapshot in which every metric has points.
fn full(reader: &mut Reader) -> Snapshot {
    let mut random = Random(3);
    (0..9).for_each(|_| measure(&mut random));
    let snapshot = reader.snapshot();
    assert_eq!(snapshot.metrics.len(), 7);
    snapshot
}

#[test]
fn every_kind_is_the_same_each_way() {
    let _turn = turn();
    let _recording = start_recording(RecordingConfig::default());
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut readers = [Temporality::Cumulative, Temporality::Delta].map(|asked| (asked, metering.reader(asked)));
    let (mut random, mut seen) = (Random(1), 0);
    for _ in 0..100 {
        measure(&mut random);
        for (asked, reader) in &mut readers {
            let snapshot = reader.snapshot();
            let exemplars = |point: &Point| match &point.value {
                PointValue::Histogram(value) => value.exemplars.len(),
                PointValue::Exponential(value) => value.exemplars.len(),
                _ => 0,
            };
            seen += snapshot.metrics.iter().flat_map(|metric| &metric.points).map(exemplars).sum::<usize>();
            check(*asked, &snapshot);
        }
    }
    assert!(seen > 100, "{seen} exemplars");
}

mod keys {
    tracecast::tc_keys! {
        pub label cached: Option<bool> = "tc.cached";
    }
}

#[derive(Debug, TcError)]
enum LoadError {
    Gone,
}

#[tc_metric(calls = "tc_wire_loads_total", labels(keys::cached = cached))]
fn load(cached: Option<bool>, fails: bool) -> Result<(), LoadError> {
    if fails { Err(LoadError::Gone) } else { Ok(()) }
}

/// Labels without a value are not sent: neither an empty text nor a word in their place.
#[test]
fn labels_without_a_value_are_absent() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    load(Some(true), false).unwrap();
    load(None, false).unwrap();
    load(None, true).unwrap_err();
    let (encoder, snapshot) = (Encoder::new("metrics"), reader.snapshot());
    let protobuf = ExportMetricsServiceRequest::decode(&encoder.metrics(&snapshot)[..]).expect("protocol buffers");
    let json = serde_json::from_slice(&encoder.metrics_json(&snapshot)).expect("JSON");
    for request in [protobuf, json] {
        let [Metric { data: Some(Data::Sum(sum)), .. }] = &metrics_of(request)[..] else { panic!("one sum") };
        let attribute = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(any_value::Value::StringValue(text)) => format!("{}={text}", attribute.key),
            other => panic!("{other:?}"),
        };
        let attributes_of =
            |point: &NumberDataPoint| point.attributes.iter().map(attribute).collect::<Vec<_>>().join(" ");
        let mut points: Vec<String> = sum.data_points.iter().map(attributes_of).collect();
        points.sort();
        assert_eq!(points, ["outcome=error error.type=Gone", "outcome=ok", "tc.cached=true outcome=ok"]);
    }
}

#[test]
fn extreme_values_are_the_same_each_way() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut snapshot = full(&mut metering.reader(Temporality::Cumulative));
    for point in snapshot.metrics.iter_mut().flat_map(|metric| &mut metric.points) {
        match &mut point.value {
            PointValue::U64(number) => *number = u64::MAX,
            PointValue::I64(number) => *number = i64::MIN,
            PointValue::F64(number) => *number = f64::MIN_POSITIVE,
            PointValue::Histogram(value) => {
                (value.count, value.sum, value.min, value.max) = (u64::MAX, f64::MAX, None, Some(-0.0));
                value.counts.fill(u64::MAX);
            }
            PointValue::Exponential(value) => {
                let parts = ExponentialParts::of(value);
                (*parts.scale, *parts.offset, *parts.zero_count) = (i32::MIN, i32::MAX, u64::MAX);
                *parts.counts = vec![0, 1, 127, 128, u64::MAX];
            }
            other => panic!("{other:?}"),
        }
    }
    check(Temporality::Cumulative, &snapshot);
}

#[test]
fn a_metric_without_points_is_not_sent() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut snapshot = full(&mut metering.reader(Temporality::Cumulative));
    snapshot.metrics[2].points.clear();
    check(Temporality::Cumulative, &snapshot);
    snapshot.metrics.clear();
    check(Temporality::Cumulative, &snapshot);
}

#[test]
fn exemplars_outside_of_spans_have_no_ids() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default().with_exemplars(Exemplars::Everywhere));
    let metering = metering.unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    SIZES.record(3_u64, (SourceType::Disk,));
    TIMES.record(0.5, ());
    let snapshot = reader.snapshot();
    check(Temporality::Cumulative, &snapshot);
    let request = ExportMetricsServiceRequest::decode(&Encoder::new("metrics").metrics(&snapshot)[..]).unwrap();
    let taken: Vec<_> = metrics_of(request)
        .into_iter()
        .flat_map(|metric| match metric.data {
            Some(Data::Histogram(data)) => data.data_points.into_iter().flat_map(|point| point.exemplars).collect(),
            Some(Data::ExponentialHistogram(data)) => {
                data.data_points.into_iter().flat_map(|point| point.exemplars).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(taken.len(), 2);
    assert!(taken.iter().all(|exemplar| exemplar.trace_id.is_empty() && exemplar.span_id.is_empty()), "{taken:?}");
}
