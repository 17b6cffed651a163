//! Metrics as text, for those who must be scraped: the format that Prometheus reads.

use std::fmt::Write as _;

use crate::label::LabelText;
use crate::metric::{MetricKind, MetricMeta};
use crate::snapshot::{ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue, Snapshot};

impl Snapshot {
    /// The same points in the text format of Prometheus. Take it from a cumulative reader: who scrapes expects sums since
    /// the beginning.
    ///
    /// Dots in the names of labels become underscores. An exponential histogram is written with the bounds of the buckets
    /// that it uses.
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for metric in self.metrics.iter().filter(|metric| !metric.points.is_empty()) {
            write_metric(&mut text, metric);
        }
        text
    }
}

fn write_metric(text: &mut String, metric: &MetricPoints) {
    let (name, help) = (metric.meta.name, escaped_help(metric.meta));
    let kind = match metric.meta.kind {
        MetricKind::Counter => "counter",
        MetricKind::UpDownCounter | MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for point in &metric.points {
        write_point(text, name, point);
    }
}

fn write_point(text: &mut String, name: &str, point: &Point) {
    let labels = labels(point);
    match &point.value {
        PointValue::U64(value) => sample(text, name, &labels, &value.to_string()),
        PointValue::I64(value) => sample(text, name, &labels, &value.to_string()),
        PointValue::F64(value) => sample(text, name, &labels, &value.to_string()),
        PointValue::Histogram(point) => {
            let HistogramPoint { bounds, counts, count, sum, .. } = point;
            buckets(text, name, &labels, bounds.iter().copied().zip(counts.iter().copied()), *count, *sum);
        }
        PointValue::Exponential(point) => {
            buckets(text, name, &labels, exponential_buckets(point), point.count, point.sum);
        }
    }
}

/// Upper bounds of exponential buckets, with how many values each has.
fn exponential_buckets(point: &ExponentialPoint) -> impl Iterator<Item = (f64, u64)> {
    // As one power of two, so that whole powers are exact.
    let (step, offset) = (2_f64.powi(-point.scale), point.offset);
    let zero = (point.zero_count > 0).then_some((point.zero_threshold, point.zero_count));
    let above = point
        .counts
        .iter()
        .enumerate()
        .map(move |(at, count)| ((f64::from(offset + at as i32 + 1) * step).exp2(), *count));
    zero.into_iter().chain(above)
}

/// Each bucket with all below it, then the sum and the count.
fn buckets(
    text: &mut String,
    name: &str,
    labels: &[String],
    buckets: impl Iterator<Item = (f64, u64)>,
    count: u64,
    sum: f64,
) {
    let mut below = 0;
    let mut bucket = |bound: &str, below: u64| {
        let labels: Vec<_> = labels.iter().cloned().chain([format!("le=\"{bound}\"")]).collect();
        sample(text, &format!("{name}_bucket"), &labels, &below.to_string());
    };
    for (bound, here) in buckets {
        below += here;
        bucket(&bound.to_string(), below);
    }
    bucket("+Inf", count);
    sample(text, &format!("{name}_sum"), labels, &sum.to_string());
    sample(text, &format!("{name}_count"), labels, &count.to_string());
}

fn sample(text: &mut String, name: &str, labels: &[String], value: &str) {
    let _ = match labels.is_empty() {
        true => writeln!(text, "{name} {value}"),
        false => writeln!(text, "{name}{{{}}} {value}", labels.join(",")),
    };
}

fn labels(point: &Point) -> Vec<String> {
    let label = |(name, value): &(&str, LabelText)| format!("{}=\"{}\"", label_name(name), escaped(value, true));
    point.labels.iter().map(label).collect()
}

fn label_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

fn escaped_help(meta: &MetricMeta) -> String {
    escaped(meta.description.trim(), false)
}

/// Backslashes and line ends, and in the values of labels quotes too, have to be escaped.
fn escaped(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_labels_and_texts_are_escaped() {
        assert_eq!(label_name("tc.source.type"), "tc_source_type");
        assert_eq!(label_name("9lives"), "_9lives");
        assert_eq!(escaped("a\"b\\c\nd", true), "a\\\"b\\\\c\\nd");
        assert_eq!(escaped("a\"b\nc", false), "a\"b\\nc");
    }

    // Miri's powers are inexact on purpose.
    #[cfg(not(miri))]
    #[test]
    fn exponential_buckets_have_their_upper_bounds() {
        let point = ExponentialPoint {
            count: 6,
            sum: 12.0,
            min: None,
            max: None,
            scale: 0,
            zero_count: 1,
            zero_threshold: 0.5,
            offset: 0,
            counts: vec![2, 0, 3],
            exemplars: Vec::new(),
        };
        let mut text = String::new();
        buckets(&mut text, "tc_x", &[], exponential_buckets(&point), point.count, point.sum);
        let expected = "tc_x_bucket{le=\"0.5\"} 1\ntc_x_bucket{le=\"2\"} 3\ntc_x_bucket{le=\"4\"} 3\n\
                        tc_x_bucket{le=\"8\"} 6\ntc_x_bucket{le=\"+Inf\"} 6\ntc_x_sum 12\ntc_x_count 6\n";
        assert_eq!(text, expected);
    }
}
