//! The Prometheus queries of a panel.

use serde_json::{Value, json};

use super::super::{Bounds, Label, Metric, Rule};
use super::datasource;
use crate::declare::metric::{MetricKind, label_name};

/// The largest number of lines that a panel may have, and the number that it shows if a metric could have more.
const LINES: (u64, u64) = (40, 20);
/// Like `LINES`, for histograms, whose label sets have three lines each, one per quantile.
const LINES_OF_QUANTILES: (u64, u64) = (12, 5);

/// A Prometheus expression, and the legend of its lines.
pub(super) struct Query {
    expression: String,
    legend: String,
}

impl Query {
    pub(super) fn to_json(&self, name: char, panel: &str) -> Value {
        let format = match panel {
            "heatmap" => "heatmap",
            "table" => "table",
            _ => "time_series",
        };
        let is_instant = panel == "table";
        json!({
            "refId": name,
            "datasource": datasource(),
            "editorMode": "code",
            "expr": self.expression,
            "legendFormat": self.legend,
            "format": format,
            "instant": is_instant,
            "range": !is_instant,
        })
    }
}

/// Queries the rate of a counter.
pub(super) fn rate(metric: &Metric) -> Vec<Query> {
    summed(metric, &format!("rate({}[$__rate_interval])", selector(&metric.prometheus)))
}

/// Queries the sum of an up-down counter over all processes.
pub(super) fn sum(metric: &Metric) -> Vec<Query> {
    summed(metric, &selector(&metric.prometheus))
}

fn summed(metric: &Metric, series: &str) -> Vec<Query> {
    let lines = Lines::of(metric);
    let expression = lines.largest(format!("{} ({series})", by("sum", &lines.labels)));
    vec![Query { expression, legend: legend(metric, &lines.labels) }]
}

/// Queries the values of a gauge, separately for each process.
pub(super) fn last(metric: &Metric) -> Vec<Query> {
    let selector = selector(&metric.prometheus);
    // Grafana expects times in milliseconds.
    let is_time = metric.prometheus.ends_with("_timestamp_seconds");
    let expression = if is_time { format!("{selector} * 1000") } else { selector };
    let labels: Vec<String> = metric.attributes().map(label_name).chain(["instance".to_owned()]).collect();
    vec![Query { expression, legend: legend(metric, &labels) }]
}

/// Queries the current series of an `_info` gauge, to show their labels in a table.
pub(super) fn now(metric: &Metric) -> Vec<Query> {
    vec![Query { expression: selector(&metric.prometheus), legend: String::new() }]
}

pub(super) fn quantiles(metric: &Metric) -> Vec<Query> {
    let lines = Lines::of(metric);
    let labels = &lines.labels;
    let quantile = |(name, quantile): (&str, &str)| {
        let of = |buckets: &str, labels: &[String]| {
            let rate = format!("rate({}[$__rate_interval])", selector(buckets));
            format!("histogram_quantile({quantile}, {} ({rate}))", by("sum", labels))
        };
        let of_labels = if labels.is_empty() { String::new() } else { format!(" {}", legend(metric, labels)) };
        let expression = lines.largest(histogram(metric, labels, of));
        Query { expression, legend: format!("{name}{of_labels}") }
    };
    [("p50", "0.5"), ("p95", "0.95"), ("p99", "0.99")].into_iter().map(quantile).collect()
}

pub(super) fn buckets(metric: &Metric) -> Vec<Query> {
    let of = |buckets: &str, labels: &[String]| {
        format!("{} (increase({}[$__rate_interval]))", by("sum", labels), selector(buckets))
    };
    vec![Query { expression: histogram(metric, &[], of), legend: "{{le}}".to_owned() }]
}

/// Queries the buckets of a histogram. Prometheus stores exponential histograms as buckets if it scraped them as text,
/// and as a native histogram if it received them over OTLP.
fn histogram(metric: &Metric, labels: &[String], of: impl Fn(&str, &[String]) -> String) -> String {
    let mut with_bounds = labels.to_vec();
    with_bounds.push("le".to_owned());
    let buckets = of(&format!("{}_bucket", metric.prometheus), &with_bounds);
    match metric.buckets {
        Bounds::Rule(Rule::Exponential) => format!("{buckets} or {}", of(&metric.prometheus, labels)),
        _ => buckets,
    }
}

/// Returns the selector of a metric's series for the services that are chosen in the dashboard.
fn selector(name: &str) -> String {
    format!("{name}{{job=~\"$job\"}}")
}

fn by(function: &str, labels: &[String]) -> String {
    if labels.is_empty() { function.to_owned() } else { format!("{function} by ({})", labels.join(", ")) }
}

fn legend(metric: &Metric, labels: &[String]) -> String {
    let labels: Vec<String> = labels.iter().map(|label| format!("{{{{{label}}}}}")).collect();
    if labels.is_empty() { metric.name.clone() } else { labels.join(" ") }
}

/// The labels that split a panel into lines.
struct Lines {
    labels: Vec<String>,
    /// The number of lines that are shown, the largest ones; `None` if all are shown.
    shown: Option<u64>,
    /// Attributes that do not split the lines.
    left_out: Vec<String>,
}

impl Lines {
    /// Selects the first labels whose combinations stay within the limit of lines. If there are further labels, the next one
    /// also splits the lines, and only the largest lines are shown.
    fn of(metric: &Metric) -> Self {
        let (most, largest) = if metric.kind == MetricKind::Histogram { LINES_OF_QUANTILES } else { LINES };
        let mut lines: u64 = 1;
        let fits = |label: &&Label| {
            lines = lines.saturating_mul(label.values);
            lines <= most
        };
        let all = &metric.labels;
        let fitting = all.iter().take_while(fits).count();
        let (told, left_out) = all.split_at(all.len().min(fitting + 1));
        let names = |labels: &[Label]| labels.iter().flat_map(|label| label.attributes.clone()).collect::<Vec<_>>();
        Lines {
            labels: names(told).iter().map(|name| label_name(name)).collect(),
            shown: (fitting < all.len()).then_some(largest),
            left_out: names(left_out),
        }
    }

    fn largest(&self, expression: String) -> String {
        self.shown.map_or_else(|| expression.clone(), |shown| format!("topk({shown}, {expression})"))
    }
}

/// Describes the lines and labels of a metric that a panel does not show; empty if it shows all.
pub(super) fn not_shown(metric: &Metric) -> String {
    let Lines { shown, left_out, .. } = Lines::of(metric);
    let shown = shown.map_or_else(String::new, |shown| format!(" Only the {shown} largest are shown."));
    match left_out.is_empty() {
        true => shown,
        false => format!("{shown} Not split by {}.", left_out.join(", ")),
    }
}
