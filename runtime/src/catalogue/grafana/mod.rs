//! A dashboard for Grafana over the metrics of a listing: a row for each group, a panel for each metric, and for a
//! histogram one more that shows the whole distribution.
//!
//! Metrics are asked for by the names under which Prometheus stores them. Which Prometheus, and whose metrics, is chosen
//! at the top of the dashboard.

mod panel;
mod query;
mod unit;

use std::collections::BTreeMap;

use self::panel::{Panel, panels};
use super::json::Json;
use super::listing::{Listing, Metric};

/// Columns of a dashboard.
const WIDTH: u64 = 24;
const PANEL_HEIGHT: u64 = 8;

impl Listing {
    /// A dashboard with this title that Grafana can import: every metric in a panel of its own, in rows by component.
    ///
    /// ```
    /// let listing = tracecast::catalogue().listing();
    /// assert!(listing.to_grafana("Store").contains("\"title\": \"Store\""));
    /// ```
    pub fn to_grafana(&self, title: &str) -> String {
        let mut layout = Layout::default();
        for (group, metrics) in groups(&self.metrics) {
            layout.row(group);
            metrics.iter().flat_map(|metric| panels(metric)).for_each(|panel| layout.place(panel));
        }
        let json = Json::object([
            ("title", title.into()),
            ("uid", uid(title).into()),
            ("description", "Every metric of the program, as its catalogue lists them.".into()),
            ("tags", Json::list(["tracecast"])),
            ("schemaVersion", 39.into()),
            ("editable", true.into()),
            ("graphTooltip", 1.into()),
            ("refresh", "30s".into()),
            ("time", Json::object([("from", "now-1h".into()), ("to", "now".into())])),
            ("templating", Json::object([("list", variables())])),
            ("panels", Json::List(layout.panels)),
        ]);
        format!("{json}\n")
    }
}

/// Metrics by group, those about telemetry itself last; in a group the distributions come first.
fn groups(metrics: &[Metric]) -> Vec<(&str, Vec<&Metric>)> {
    let mut groups: BTreeMap<(bool, &str), Vec<&Metric>> = BTreeMap::new();
    let mut seen = Vec::new();
    for metric in metrics {
        // A name that is declared in two ways is one in Prometheus.
        if !seen.contains(&&metric.prometheus) {
            seen.push(&metric.prometheus);
            groups.entry((metric.group == "telemetry", &metric.group)).or_default().push(metric);
        }
    }
    for metrics in groups.values_mut() {
        metrics.sort_by_key(|metric| !panel::is_wide(metric));
    }
    groups.into_iter().map(|((_, group), metrics)| (group, metrics)).collect()
}

/// The same for the same title, so that a dashboard that is imported again takes the place of the old one.
fn uid(title: &str) -> String {
    let hash = title
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("tracecast-{hash:016x}")
}

/// Where the metrics are, and whose they are.
fn variables() -> Json {
    let source = Json::object([
        ("name", "datasource".into()),
        ("label", "Prometheus".into()),
        ("type", "datasource".into()),
        ("query", "prometheus".into()),
    ]);
    let job = Json::object([
        ("name", "job".into()),
        ("label", "Service".into()),
        ("type", "query".into()),
        ("datasource", datasource()),
        ("query", "label_values(target_info, job)".into()),
        ("definition", "label_values(target_info, job)".into()),
        ("refresh", 2.into()),
        ("multi", true.into()),
        ("includeAll", true.into()),
        // Also what has no such label.
        ("allValue", ".*".into()),
        ("current", Json::object([("text", Json::list(["All"])), ("value", Json::list(["$__all"]))])),
    ]);
    Json::List(vec![source, job])
}

/// The one that was chosen.
fn datasource() -> Json {
    Json::object([("type", "prometheus".into()), ("uid", "${datasource}".into())])
}

/// Panels from left to right, then from top to bottom.
#[derive(Default)]
struct Layout {
    panels: Vec<Json>,
    x: u64,
    y: u64,
}

impl Layout {
    fn row(&mut self, title: &str) {
        self.end_line();
        let at = grid(0, self.y, WIDTH, 1);
        self.y += 1;
        let id = self.next_id();
        self.panels.push(Json::object([
            ("id", id),
            ("type", "row".into()),
            ("title", title.into()),
            ("collapsed", false.into()),
            ("gridPos", at),
            ("panels", Json::List(Vec::new())),
        ]));
    }

    fn place(&mut self, panel: Panel) {
        let width = WIDTH / 2;
        if self.x + width > WIDTH {
            self.end_line();
        }
        let at = grid(self.x, self.y, width, PANEL_HEIGHT);
        self.x += width;
        let id = self.next_id();
        self.panels.push(panel.into_json(id, at));
    }

    fn end_line(&mut self) {
        if self.x > 0 {
            (self.x, self.y) = (0, self.y + PANEL_HEIGHT);
        }
    }

    fn next_id(&self) -> Json {
        (self.panels.len() as u64 + 1).into()
    }
}

fn grid(x: u64, y: u64, w: u64, h: u64) -> Json {
    Json::object([("x", x.into()), ("y", y.into()), ("w", w.into()), ("h", h.into())])
}
