//! The panels of one metric.

use super::super::json::Json;
use super::super::listing::Metric;
use super::query::{self, Query};
use super::{datasource, unit};
use crate::declare::metric::MetricKind;

/// One panel, without its place.
pub(super) struct Panel {
    kind: &'static str,
    title: String,
    description: String,
    unit: &'static str,
    queries: Vec<Query>,
}

/// A histogram has two: quantiles, and the distribution.
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

/// Whether a metric fills a line of the dashboard.
pub(super) fn is_wide(metric: &Metric) -> bool {
    metric.kind == MetricKind::Histogram
}

/// A gauge that is always 1: what it has to say is in its labels.
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

    pub(super) fn into_json(self, id: Json, place: Json) -> Json {
        let target = |(at, query): (usize, &Query)| query.to_json((b'A' + at as u8) as char, self.kind);
        Json::object([
            ("id", id),
            ("type", self.kind.into()),
            ("title", self.title.into()),
            ("description", self.description.into()),
            ("datasource", datasource()),
            ("gridPos", place),
            ("fieldConfig", fields(self.kind, self.unit)),
            ("options", options(self.kind, self.unit)),
            ("targets", Json::List(self.queries.iter().enumerate().map(target).collect())),
        ])
    }
}

fn fields(kind: &str, unit: &str) -> Json {
    let custom = match kind {
        "timeseries" => Json::object([("fillOpacity", 10.into()), ("showPoints", "never".into())]),
        _ => Json::object([]),
    };
    let defaults = Json::object([("unit", unit.into()), ("custom", custom)]);
    Json::object([("defaults", defaults), ("overrides", Json::List(Vec::new()))])
}

fn options(kind: &str, unit: &str) -> Json {
    match kind {
        "timeseries" => {
            let legend = Json::object([
                ("displayMode", "table".into()),
                ("placement", "bottom".into()),
                ("showLegend", true.into()),
                ("calcs", Json::list(["lastNotNull", "max"])),
            ]);
            let tooltip = Json::object([("mode", "multi".into()), ("sort", "desc".into())]);
            Json::object([("legend", legend), ("tooltip", tooltip)])
        }
        "heatmap" => Json::object([
            ("calculate", false.into()),
            ("cellGap", 1.into()),
            ("yAxis", Json::object([("unit", unit.into())])),
            ("color", Json::object([("mode", "scheme".into()), ("scheme", "Oranges".into()), ("steps", 64.into())])),
            ("tooltip", Json::object([("mode", "single".into())])),
        ]),
        _ => Json::object([("showHeader", true.into())]),
    }
}
