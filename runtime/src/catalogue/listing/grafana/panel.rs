//! The panels of one metric.

use serde_json::{Value, json};

use super::super::Metric;
use super::query::{self, Query};
use super::{datasource, unit};
use crate::declare::metric::MetricKind;

/// A panel without its position.
pub(super) struct Panel {
    kind: &'static str,
    title: String,
    description: String,
    unit: &'static str,
    queries: Vec<Query>,
}

/// Returns the panels of a metric. A histogram has two: quantiles, and the distribution.
pub(super) fn panels(metric: &Metric) -> Vec<Panel> {
    match metric.kind {
        MetricKind::Histogram => vec![quantiles(metric), distribution(metric)],
        MetricKind::Counter => vec![Panel::new(metric, "timeseries", unit::of_rate(metric), query::rate(metric))],
        MetricKind::UpDownCounter => vec![Panel::new(metric, "timeseries", unit::of(metric), query::sum(metric))],
        MetricKind::Gauge if is_table(metric) => {
            vec![Panel::new(metric, "table", unit::of(metric), query::now(metric))]
        }
        MetricKind::Gauge => vec![Panel::new(metric, "timeseries", unit::of(metric), query::last(metric))],
    }
}

/// Returns whether the panels of a metric fill a line of the dashboard.
pub(super) fn is_wide(metric: &Metric) -> bool {
    metric.kind == MetricKind::Histogram
}

/// Returns whether a metric is an `_info` gauge, whose value is always 1 and whose labels are the information.
fn is_table(metric: &Metric) -> bool {
    metric.prometheus.ends_with("_info")
}

fn quantiles(metric: &Metric) -> Panel {
    let mut panel = Panel::new(metric, "timeseries", unit::of(metric), query::quantiles(metric));
    panel.title.push_str(": p50, p95, p99");
    panel
}

fn distribution(metric: &Metric) -> Panel {
    let mut panel = Panel::new(metric, "heatmap", unit::of(metric), query::buckets(metric));
    panel.title.push_str(": distribution");
    panel
}

impl Panel {
    fn new(metric: &Metric, kind: &'static str, unit: &'static str, queries: Vec<Query>) -> Self {
        let (name, description) = (&metric.name, &metric.description);
        let is_whole = kind == "heatmap" || metric.kind == MetricKind::Gauge;
        let more = if is_whole { String::new() } else { query::not_shown(metric) };
        let description = format!("{description} (`{name}`, at most {} series){more}", metric.series);
        let title = metric.name.clone();
        Panel { kind, title, description: description.trim_start().to_owned(), unit, queries }
    }

    pub(super) fn into_json(self, id: usize, place: &Value) -> Value {
        let target = |(at, query): (usize, &Query)| query.to_json((b'A' + at as u8) as char, self.kind);
        json!({
            "id": id,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": datasource(),
            "gridPos": place,
            "fieldConfig": {"defaults": {"unit": self.unit, "custom": custom(self.kind)}, "overrides": []},
            "options": options(self.kind, self.unit),
            "targets": self.queries.iter().enumerate().map(target).collect::<Vec<_>>(),
        })
    }
}

fn custom(kind: &str) -> Value {
    match kind {
        "timeseries" => json!({"fillOpacity": 10, "showPoints": "never"}),
        _ => json!({}),
    }
}

fn options(kind: &str, unit: &str) -> Value {
    match kind {
        "timeseries" => json!({
            "legend": {"displayMode": "table", "placement": "bottom", "showLegend": true, "calcs": ["lastNotNull", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }),
        "heatmap" => json!({
            "calculate": false,
            "cellGap": 1,
            "yAxis": {"unit": unit},
            "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64},
            "tooltip": {"mode": "single"},
        }),
        _ => json!({"showHeader": true}),
    }
}
