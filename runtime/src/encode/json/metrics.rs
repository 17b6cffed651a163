//! Metrics as OTLP/JSON.

use super::writer::Json;
use super::{attribute, request};
use crate::encode::attribute::Scalar;
use crate::encode::metrics::{Form, Number, Times, is_monotonic, temporality, with_points};
use crate::encode::resource::EncodedResource;
use crate::snapshot::{ExemplarPoint, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot};

/// An `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    request(resource, ["resourceMetrics", "scopeMetrics", "metrics"], |json| {
        with_points(snapshot).for_each(|metric| json.object(|json| write_metric(json, snapshot, metric)));
    })
}

fn write_metric(json: &mut Json, snapshot: &Snapshot, metric: &MetricPoints) {
    json.text("name", metric.meta.name);
    json.text_unless_empty("description", metric.meta.description);
    json.text_unless_empty("unit", metric.meta.unit);
    let (form, times) = (Form::of(metric), Times::of(snapshot, metric));
    let name = match form {
        Form::Gauge => "gauge",
        Form::Sum => "sum",
        Form::Histogram => "histogram",
        Form::Exponential => "exponentialHistogram",
    };
    let data = |json: &mut Json| {
        json.array("dataPoints", |json| {
            metric.points.iter().for_each(|point| json.object(|json| write_point(json, point, times)));
        });
        if form != Form::Gauge {
            json.number("aggregationTemporality", temporality(snapshot, metric));
        }
        if form == Form::Sum {
            json.flag("isMonotonic", is_monotonic(metric));
        }
    };
    json.member(name, |json| json.object(data));
}

fn write_point(json: &mut Json, point: &Point, times: Times) {
    json.array("attributes", |json| {
        point.labels.iter().for_each(|(name, text)| attribute(json, name, Scalar::Str(text)));
    });
    if let Some(start) = times.start {
        json.long("startTimeUnixNano", start);
    }
    json.long("timeUnixNano", times.end);
    match &point.value {
        PointValue::Histogram(value) => write_histogram(json, value),
        PointValue::Exponential(value) => write_exponential(json, value),
        PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => match Number::of(&point.value) {
            Some(Number::Int(number)) => json.long("asInt", number),
            Some(Number::Double(number)) => json.double("asDouble", number),
            None => {}
        },
    }
}

fn write_histogram(json: &mut Json, point: &HistogramPoint) {
    write_summary(json, point.count, point.sum, point.min, point.max);
    json.longs("bucketCounts", &point.counts);
    json.doubles("explicitBounds", point.bounds);
    write_exemplars(json, &point.exemplars);
}

fn write_exponential(json: &mut Json, point: &ExponentialPoint) {
    write_summary(json, point.count, point.sum, point.min, point.max);
    json.number("scale", point.scale);
    json.long("zeroCount", point.zero_count);
    json.double("zeroThreshold", point.zero_threshold);
    json.member("positive", |json| {
        json.object(|json| {
            json.number("offset", point.offset);
            json.longs("bucketCounts", &point.counts);
        });
    });
    write_exemplars(json, &point.exemplars);
}

/// What both forms of a distribution begin with.
fn write_summary(json: &mut Json, count: u64, sum: f64, min: Option<f64>, max: Option<f64>) {
    json.long("count", count);
    json.double("sum", sum);
    min.into_iter().for_each(|min| json.double("min", min));
    max.into_iter().for_each(|max| json.double("max", max));
}

fn write_exemplars(json: &mut Json, exemplars: &[ExemplarPoint]) {
    json.array("exemplars", |json| {
        for exemplar in exemplars {
            json.object(|json| {
                json.long("timeUnixNano", exemplar.time_unix_nanos);
                json.double("asDouble", exemplar.value);
                json.plain("traceId", exemplar.trace_id);
                json.plain("spanId", exemplar.span_id);
            });
        }
    });
}
