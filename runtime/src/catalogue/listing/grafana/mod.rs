//! A dashboard for Grafana over the metrics of a listing: a row for each group, a panel for each metric, and for a
//! histogram one more that shows the whole distribution.
//!
//! Metrics are asked for by the names under which Prometheus stores them. Which Prometheus, and whose metrics, is chosen
//! at the top of the dashboard.

mod panel;
mod query;
mod unit;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::panel::{Panel, panels};
use super::{CatalogueData, Metric};

/// Columns of a dashboard.
const WIDTH: u64 = 24;
const PANEL_HEIGHT: u64 = 8;

impl CatalogueData {
    /// A dashboard with this title that Grafana can import: every metric in a panel of its own, in rows by component.
    ///
    /// ```
    /// let data = tracecast::catalogue().data();
    /// assert!(data.to_grafana("Store").contains("\"title\": \"Store\""));
    /// ```
    pub fn to_grafana(&self, title: &str) -> String {
        let mut layout = Layout::default();
        for (group, metrics) in groups(&self.metrics) {
            layout.row(group);
            metrics.iter().flat_map(|metric| panels(metric)).for_each(|panel| layout.place(panel));
        }
        let dashboard = json!({
            "title": title,
            "uid": uid(title),
            "description": "Every metric of the program, as its catalogue lists them.",
            "tags": ["tracecast"],
            "schemaVersion": 39,
            "editable": true,
            "graphTooltip": 1,
            "refresh": "30s",
            "time": {"from": "now-1h", "to": "now"},
            "templating": {"list": variables()},
            "panels": layout.panels,
        });
        format!("{dashboard:#}\n")
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
fn variables() -> Value {
    json!([
        {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
        {
            "name": "job",
            "label": "Service",
            "type": "query",
            "datasource": datasource(),
            "query": "label_values(target_info, job)",
            "definition": "label_values(target_info, job)",
            "refresh": 2,
            "multi": true,
            "includeAll": true,
            // Also what has no such label.
            "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]},
        },
    ])
}

/// The one that was chosen.
fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// Panels from left to right, then from top to bottom.
#[derive(Default)]
struct Layout {
    panels: Vec<Value>,
    x: u64,
    y: u64,
}

impl Layout {
    fn row(&mut self, title: &str) {
        self.end_line();
        self.panels.push(json!({
            "id": self.next_id(),
            "type": "row",
            "title": title,
            "collapsed": false,
            "gridPos": {"x": 0, "y": self.y, "w": WIDTH, "h": 1},
            "panels": [],
        }));
        self.y += 1;
    }

    fn place(&mut self, panel: Panel) {
        let width = WIDTH / 2;
        if self.x + width > WIDTH {
            self.end_line();
        }
        let place = json!({"x": self.x, "y": self.y, "w": width, "h": PANEL_HEIGHT});
        self.panels.push(panel.into_json(self.next_id(), &place));
        self.x += width;
    }

    fn end_line(&mut self) {
        if self.x > 0 {
            (self.x, self.y) = (0, self.y + PANEL_HEIGHT);
        }
    }

    fn next_id(&self) -> usize {
        self.panels.len() + 1
    }
}
