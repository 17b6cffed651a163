//! The catalogue is written as a dashboard that asks for every metric, and for nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};
use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;

mod keys {
    tracecast::tc_keys! {
        /// One of many.
        pub label shard: Index<99> = "tc.shard.id";
        /// One of a few.
        pub label slow: Option<bool> = "tc.slow";
    }
}

tc_metrics! {
    /// Bytes moved between peers.
    static P2P_BYTES: Counter<(source, device)> = "tc_p2p_bytes_total" { unit: "By" };
    /// By shard.
    static SHARDS: Counter<(source, keys::shard, keys::slow)> = "tc_p2p_shards_total";
    /// Calls.
    static REQUESTS: Counter = "tc_p2p_requests_total" { unit: "{request}" };
    /// How full the pool is.
    static POOL: Gauge<(device,)> = "tc_pool_used_ratio";
    /// What it is.
    static INFO: Gauge<(source,)> = "tc_pool_info";
    /// When it was filled.
    static FILLED: Gauge = "tc_pool_filled_timestamp_seconds";
    /// How many wait.
    static WAITING: UpDownCounter<(source,)> = "tc_pool_waiting";
    /// How long.
    static LOAD: Histogram<(source,)> = "tc_p2p_load_seconds";
    /// How large.
    static SIZES: Histogram<(), u64> = "tc_tensor_bytes" { exponential };
    /// A name of the semantic conventions.
    static SERVED: Histogram<(source, device)> = "http.server.request.duration" { unit: "s" };
}

#[tc_span("StoreDaemon/Pull")]
#[tc_metric(calls = "tc_pulls_total", duration = "tc_pull_seconds", labels(source = from))]
fn pull(from: SourceType) {
    let _ = from;
}

fn dashboard() -> Value {
    pull(SourceType::Disk);
    serde_json::from_str(&tracecast::catalogue().data().to_grafana("Store")).unwrap()
}

fn panels(dashboard: &Value) -> &Vec<Value> {
    dashboard["panels"].as_array().unwrap()
}

/// The panels of a metric: their kinds, units and expressions.
fn of<'a>(dashboard: &'a Value, metric: &str) -> Vec<(&'a str, &'a str, Vec<&'a str>)> {
    let is_its = |panel: &&Value| panel["title"].as_str().unwrap().split(':').next() == Some(metric);
    let told = |panel: &'a Value| {
        let unit = panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap();
        let targets = panel["targets"].as_array().unwrap().iter();
        (panel["type"].as_str().unwrap(), unit, targets.map(|target| target["expr"].as_str().unwrap()).collect())
    };
    panels(dashboard).iter().filter(is_its).map(told).collect()
}

fn expressions(dashboard: &Value) -> Vec<String> {
    let targets = panels(dashboard).iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// The names that are asked for: what stands in front of a brace.
fn asked(expression: &str) -> Vec<&str> {
    let before = expression.match_indices('{').map(|(at, _)| &expression[..at]);
    before.map(|text| text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()).collect()
}

#[test]
fn every_metric_is_asked_for_and_nothing_else() {
    let dashboard = dashboard();
    let mut samples: BTreeMap<String, String> = BTreeMap::new();
    for metric in tracecast::catalogue().metrics {
        let name = metric.prometheus_name();
        if metric.kind == tracecast::catalogue::MetricKind::Histogram {
            samples.insert(format!("{name}_bucket"), name.clone());
        }
        samples.insert(name.clone(), name);
    }
    let all = expressions(&dashboard);
    let mut found = BTreeSet::new();
    for expression in &all {
        let names = asked(expression);
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            assert!(samples.contains_key(name), "`{name}` of {expression} is no metric");
            found.insert(&samples[name]);
        }
    }
    let metrics: BTreeSet<&String> = samples.values().collect();
    assert_eq!(found, metrics);
    assert!(metrics.contains(&"http_server_request_duration_seconds".to_owned()), "dots are translated");
}

#[test]
fn each_kind_has_its_panel() {
    let dashboard = dashboard();
    let check = |metric: &str, kind: &str, unit: &str, expression: &str| {
        assert_eq!(of(&dashboard, metric), [(kind, unit, vec![expression])], "{metric}");
    };
    let bytes = "sum by (tc_source_type, tc_device_id) (rate(tc_p2p_bytes_total{job=~\"$job\"}[$__rate_interval]))";
    check("tc_p2p_bytes_total", "timeseries", "binBps", bytes);
    let requests = "sum (rate(tc_p2p_requests_total{job=~\"$job\"}[$__rate_interval]))";
    check("tc_p2p_requests_total", "timeseries", "reqps", requests);
    check("tc_pool_used_ratio", "timeseries", "percentunit", "tc_pool_used_ratio{job=~\"$job\"}");
    check("tc_pool_info", "table", "short", "tc_pool_info{job=~\"$job\"}");
    let filled = "tc_pool_filled_timestamp_seconds{job=~\"$job\"} * 1000";
    check("tc_pool_filled_timestamp_seconds", "timeseries", "dateTimeAsIso", filled);
    check("tc_pool_waiting", "timeseries", "short", "sum by (tc_source_type) (tc_pool_waiting{job=~\"$job\"})");

    let rate = "sum by (tc_source_type, le) (rate(tc_p2p_load_seconds_bucket{job=~\"$job\"}[$__rate_interval]))";
    let quantiles = ["0.5", "0.95", "0.99"].map(|quantile| format!("histogram_quantile({quantile}, {rate})"));
    let buckets = "sum by (le) (increase(tc_p2p_load_seconds_bucket{job=~\"$job\"}[$__rate_interval]))";
    let load = of(&dashboard, "tc_p2p_load_seconds");
    let expected = quantiles.iter().map(String::as_str).collect();
    assert_eq!(load, [("timeseries", "s", expected), ("heatmap", "s", vec![buckets])]);

    let sizes = of(&dashboard, "tc_tensor_bytes")[0].2[0];
    let native = "histogram_quantile(0.5, sum (rate(tc_tensor_bytes{job=~\"$job\"}[$__rate_interval])))";
    assert!(sizes.ends_with(&format!(" or {native}")), "{sizes}");
}

#[test]
fn of_what_could_be_too_many_lines_the_largest_are_shown() {
    let dashboard = dashboard();
    let check = |title: &str, expression: &str, description: &str| {
        let panel = panels(&dashboard).iter().find(|panel| panel["title"] == title).unwrap();
        let (expr, told) = (panel["targets"][0]["expr"].as_str().unwrap(), panel["description"].as_str().unwrap());
        assert!(expr.starts_with(expression), "{expr}");
        assert_eq!(told, description);
    };
    check(
        "tc_p2p_shards_total",
        "topk(20, sum by (tc_source_type, tc_shard_id) (rate(",
        "By shard. (`tc_p2p_shards_total`, at most 600 series) Only the 20 largest are shown. Not split by tc.slow.",
    );
    let name = "http.server.request.duration";
    let told = format!("A name of the semantic conventions. (`{name}`, at most 544 series)");
    check(
        &format!("{name}: p50, p95, p99"),
        "topk(5, histogram_quantile(0.5, sum by (tc_source_type, tc_device_id, le) (rate(",
        &format!("{told} Only the 5 largest are shown."),
    );
    check(&format!("{name}: distribution"), "sum by (le) (increase(", &told);
}

#[test]
fn panels_stand_in_rows_by_group_and_do_not_overlap() {
    let dashboard = dashboard();
    let (mut rows, mut taken, mut ids) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for panel in panels(&dashboard) {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= 24 && ids.insert(panel["id"].as_u64().unwrap()));
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(cell), "{cell:?} of {} is taken", panel["title"]);
        }
        if panel["type"] == "row" {
            rows.push(panel["title"].as_str().unwrap());
        }
    }
    let mut groups = vec!["StoreDaemon", "http", "p2p", "pool", "tensor"];
    groups.extend(cfg!(feature = "otlp").then_some("telemetry"));
    rows.retain(|row| groups.contains(row));
    assert_eq!(rows, groups);
}

#[test]
fn prometheus_and_the_service_are_chosen_at_the_top() {
    let dashboard = dashboard();
    let variables = &dashboard["templating"]["list"];
    assert_eq!((&variables[0]["name"], &variables[0]["type"]), (&json!("datasource"), &json!("datasource")));
    assert_eq!((&variables[1]["name"], &variables[1]["allValue"]), (&json!("job"), &json!(".*")));
    let with_data = panels(&dashboard).iter().filter(|panel| panel["type"] != "row");
    assert!(with_data.clone().count() > 0);
    for panel in with_data {
        assert_eq!(panel["datasource"], json!({"type": "prometheus", "uid": "${datasource}"}));
    }
    assert_eq!(dashboard["title"], "Store");
    let other: Value = serde_json::from_str(&tracecast::catalogue().data().to_grafana("Other")).unwrap();
    assert_ne!(other["uid"], dashboard["uid"]);
    assert!(dashboard["uid"].as_str().unwrap().len() <= 40, "Grafana takes no longer one");
}

/// Where `promtool` is installed it has the last word.
#[test]
fn promtool_reads_every_expression() {
    if Command::new("promtool").arg("--version").output().is_err() {
        eprintln!("promtool is not installed: left out");
        return;
    }
    let rule = |(at, expression): (usize, String)| {
        let expression = expression.replace("$__rate_interval", "5m").replace("$job", ".*");
        json!({"record": format!("tc:panel_{at}"), "expr": expression})
    };
    let rules: Vec<Value> = expressions(&dashboard()).into_iter().enumerate().map(rule).collect();
    let (count, file) =
        (rules.len(), std::env::temp_dir().join(format!("tracecast-rules-{}.yaml", std::process::id())));
    // JSON is YAML.
    std::fs::write(&file, json!({"groups": [{"name": "dashboard", "rules": rules}]}).to_string()).unwrap();
    let output = Command::new("promtool").args(["check", "rules"]).arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("{count} rules found")), "{text}");
}
