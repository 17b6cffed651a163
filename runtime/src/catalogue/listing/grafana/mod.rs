//! Creates a Grafana dashboard of the metrics of a catalogue: a row for each group, a panel for each metric, and for a
//! histogram a second panel with the whole distribution.
//!
//! Queries use the names under which Prometheus stores the metrics. Variables at the top of the dashboard select the
//! Prometheus server and the services.

mod panel;
mod query;
mod unit;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::panel::{Panel, panels};
use super::{CatalogueData, Metric};

/// The number of columns of a dashboard.
const WIDTH: u64 = 24;
const PANEL_HEIGHT: u64 = 8;

impl CatalogueData {
    /// Returns a dashboard with this title that Grafana can import. Each metric has its own panel, a histogram two, in
    /// rows by component; metrics that do not measure a function are in rows by a word of their names.
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

/// Returns the metrics by group, with those about telemetry itself last. In a group, histograms come first.
fn groups(metrics: &[Metric]) -> Vec<(&str, Vec<&Metric>)> {
    let mut groups: BTreeMap<(bool, &str), Vec<&Metric>> = BTreeMap::new();
    let mut seen = Vec::new();
    for metric in metrics {
        // Two declarations of one name are one metric in Prometheus.
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

/// Derives the id from the title, so that an imported dashboard replaces the old one of the same title.
fn uid(title: &str) -> String {
    let hash = title
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("tracecast-{hash:016x}")
}

/// Returns the variables that select the Prometheus server and the services.
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
            // Also matches series without this label.
            "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]},
        },
    ])
}

/// Returns a reference to the selected Prometheus server.
fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

/// Places panels from left to right, then from top to bottom.
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
