//! Metrics as OTLP/JSON.

use super::writer::Json;
use super::{attribute, own_scope, request_of_scopes};
use crate::declare::scope::ForeignScope;
use crate::declare::value::{OwnedValue, Value};
use crate::encode::metrics::{Form, Labels, Number, Stream, Times, foreign, ours};
use crate::encode::resource::EncodedResource;
use crate::meter::snapshot::{ExemplarPoint, ExponentialPoint, HistogramPoint, PointValue, Snapshot};

/// An `ExportMetricsServiceRequest` with all points of a snapshot.
pub(crate) fn metrics_request(resource: &EncodedResource, snapshot: &Snapshot) -> Vec<u8> {
    request_of_scopes(resource, ["resourceMetrics", "scopeMetrics", "metrics"], |json| {
        own_scope(json, "metrics", |json| write_metrics(json, ours(snapshot)));
        for (scope, metrics) in foreign(snapshot) {
            json.object(|json| {
                json.member("scope", |json| json.object(|json| write_scope(json, scope)));
                json.array("metrics", |json| write_metrics(json, metrics.iter().map(Stream::of_foreign)));
                scope.schema_url.iter().for_each(|url| json.text("schemaUrl", url));
            });
        }
    })
}

fn write_scope(json: &mut Json, scope: &ForeignScope) {
    json.text("name", &scope.name);
    scope.version.iter().for_each(|version| json.text("version", version));
    json.array("attributes", |json| write_attributes(json, &scope.attributes));
}

fn write_metrics<'a>(json: &mut Json, streams: impl Iterator<Item = Stream<'a>>) {
    streams.for_each(|stream| json.object(|json| write_metric(json, &stream)));
}

fn write_metric(json: &mut Json, stream: &Stream<'_>) {
    json.text("name", stream.name);
    json.text_unless_empty("description", stream.description);
    json.text_unless_empty("unit", stream.unit);
    let name = match stream.form {
        Form::Gauge => "gauge",
        Form::Sum => "sum",
        Form::Histogram => "histogram",
        Form::Exponential => "exponentialHistogram",
    };
    let data = |json: &mut Json| {
        json.array("dataPoints", |json| {
            stream.for_each(|labels, value| json.object(|json| write_point(json, labels, value, stream.times)));
        });
        if stream.form != Form::Gauge {
            json.number("aggregationTemporality", stream.temporality);
        }
        if stream.form == Form::Sum {
            json.flag("isMonotonic", stream.monotonic);
        }
    };
    json.member(name, |json| json.object(data));
}

fn write_point(json: &mut Json, labels: Labels<'_>, value: &PointValue, times: Times) {
    json.array("attributes", |json| match labels {
        Labels::Ours(labels) => labels.iter().for_each(|(name, text)| attribute(json, name, Value::Str(text))),
        Labels::Foreign(attributes) => write_attributes(json, attributes),
    });
    if let Some(start) = times.start {
        json.long("startTimeUnixNano", start);
    }
    json.long("timeUnixNano", times.end);
    match value {
        PointValue::Histogram(value) => write_histogram(json, value),
        PointValue::Exponential(value) => write_exponential(json, value),
        PointValue::U64(_) | PointValue::I64(_) | PointValue::F64(_) => match Number::of(value) {
            Some(Number::Int(number)) => json.long("asInt", number),
            Some(Number::Double(number)) => json.double("asDouble", number),
            None => {}
        },
    }
}

fn write_attributes(json: &mut Json, attributes: &[(String, OwnedValue)]) {
    attributes.iter().for_each(|(key, value)| attribute(json, key, value.as_value()));
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
    if let Some(negative) = &point.negative {
        json.member("negative", |json| {
            json.object(|json| {
                json.number("offset", negative.offset);
                json.longs("bucketCounts", &negative.counts);
            });
        });
    }
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
                if exemplar.trace_id.0 != 0 && exemplar.span_id.0 != 0 {
                    json.plain("traceId", exemplar.trace_id);
                    json.plain("spanId", exemplar.span_id);
                }
            });
        }
    });
}
