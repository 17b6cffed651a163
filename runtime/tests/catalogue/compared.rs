//! Two catalogues are compared: what would break those who use the telemetry is told, each way.

use serde_json::{Value, json};
use tracecast::catalogue::{CatalogueData, Comparison};

fn before() -> Value {
    let metric = |name: &str, kind: &str, unit: &str, labels: Value, series: u64| {
        json!({"name": name, "prometheus": name, "group": "p2p", "kind": kind, "number": "u64", "unit": unit,
            "labels": labels, "buckets": null, "series": series, "budget": 2000, "description": format!("{name}, in words.")})
    };
    let source = json!({"attributes": ["tc.source.type"], "values": 2, "texts": ["remote", "disk"]});
    json!({
        "tracecast_catalogue": 1,
        "spans": [
            {"name": "Store/Load", "kind": "client", "keys": ["tc.source.type"]},
            {"name": "Store/Poll", "kind": "internal", "keys": []},
        ],
        "keys": [
            {"name": "tc.size", "kind": "measure", "type": "u64", "values": null, "baggage": false, "description": "How large."},
            {"name": "tc.source.type", "kind": "label", "type": "label", "values": 2, "baggage": false, "description": "From."},
        ],
        "metrics": [
            metric("tc_loads_total", "counter", "", json!([source]), 2),
            metric("tc_pool_bytes", "gauge", "By", json!([]), 1),
        ],
    })
}

fn read(json: &Value) -> CatalogueData {
    CatalogueData::from_json(&json.to_string()).unwrap()
}

fn compared(allowed: u64, change: impl Fn(&mut Value)) -> Comparison {
    let mut now = before();
    change(&mut now);
    read(&now).compare(&read(&before()), allowed)
}

#[track_caller]
fn breaks(change: impl Fn(&mut Value), expected: &[&str]) {
    let comparison = compared(u64::MAX, change);
    assert_eq!(comparison.breaking(), expected, "{comparison}");
    assert!(!comparison.passes());
    expected.iter().for_each(|line| assert!(comparison.to_string().contains(&format!("broken: {line}\n"))));
}

#[track_caller]
fn passes(change: impl Fn(&mut Value), expected: &[&str]) {
    let comparison = compared(u64::MAX, change);
    assert!(comparison.passes(), "{comparison}");
    assert_eq!(comparison.others(), expected, "{comparison}");
}

fn remove(list: &mut Value, at: usize) {
    list.as_array_mut().unwrap().remove(at);
}

#[test]
fn a_key_that_becomes_a_list_breaks() {
    breaks(
        |now| now["keys"][0]["type"] = json!("u64[]"),
        &["key `tc.size` changed from measure of u64 to measure of u64[]"],
    );
}

#[test]
fn the_same_has_not_changed() {
    let same = compared(0, |_| ());
    assert!(same.passes());
    assert_eq!(same.to_string(), "nothing has changed: at most 3 series\n");
}

#[test]
fn what_is_gone_breaks_and_what_is_new_does_not() {
    breaks(|now| remove(&mut now["metrics"], 1), &["metric `tc_pool_bytes` was removed"]);
    breaks(|now| remove(&mut now["spans"], 0), &["span `Store/Load` was removed"]);
    breaks(|now| remove(&mut now["keys"], 0), &["key `tc.size` was removed"]);
    // The other way round the same things are new.
    let mut fewer = before();
    for (list, at) in [("metrics", 1), ("spans", 0), ("keys", 0)] {
        remove(&mut fewer[list], at);
    }
    let comparison = read(&before()).compare(&read(&fewer), 1);
    assert!(comparison.passes(), "{comparison}");
    let growth = "up to 1 more series (1 allowed): `tc_pool_bytes` 0 -> 1";
    let new = ["span `Store/Load` was added", "key `tc.size` was added", "metric `tc_pool_bytes` was added", growth];
    assert_eq!(comparison.others(), new);
}

#[test]
fn a_name_that_another_function_takes_is_told_and_passes() {
    let change = "span `Store/Load` is created in 2 places, was 1";
    passes(|now| now["spans"][0]["places"] = json!(2), &[change]);
    passes(|now| now["spans"][0]["places"] = json!(1), &[]);
}

#[test]
fn a_new_name_for_the_same_is_a_rename() {
    let renamed =
        |list: &'static str, at: usize, name: &'static str| move |now: &mut Value| now[list][at]["name"] = json!(name);
    breaks(renamed("metrics", 0, "tc_fetches_total"), &["metric `tc_loads_total` was renamed to `tc_fetches_total`"]);
    breaks(renamed("spans", 0, "Store/Fetch"), &["span `Store/Load` was renamed to `Store/Fetch`"]);
    breaks(renamed("spans", 0, "Daemon/Load"), &["span `Store/Load` was renamed to `Daemon/Load`"]);
    breaks(renamed("keys", 0, "tc.bytes"), &["key `tc.size` was renamed to `tc.bytes`"]);
    let other = |now: &mut Value| now["metrics"][1]["name"] = json!("tc_other_bytes");
    let unlike = |now: &mut Value| {
        other(now);
        now["metrics"][1]["kind"] = json!("counter");
    };
    breaks(unlike, &["metric `tc_pool_bytes` was removed"]);
}

#[test]
fn another_shape_breaks() {
    let set = |list: &'static str, field: &'static str, value: Value| {
        move |now: &mut Value| now[list][0][field] = value.clone()
    };
    breaks(set("metrics", "unit", json!("s")), &["the unit of metric `tc_loads_total` changed from none to `s`"]);
    breaks(
        set("metrics", "kind", json!("up_down_counter")),
        &["the kind of metric `tc_loads_total` changed from counter to up_down_counter"],
    );
    breaks(set("metrics", "labels", json!([])), &["metric `tc_loads_total` no longer has `tc.source.type`"]);
    breaks(set("spans", "kind", json!("server")), &["the kind of span `Store/Load` changed from client to server"]);
    breaks(set("spans", "keys", json!([])), &["span `Store/Load` no longer has `tc.source.type`"]);
    breaks(set("keys", "type", json!("f64")), &["key `tc.size` changed from measure of u64 to measure of f64"]);
    breaks(set("keys", "kind", json!("label")), &["key `tc.size` changed from measure of u64 to label"]);
    let one_more = json!([before()["metrics"][0]["labels"][0], {"attributes": ["a", "b"], "values": 2, "texts": []}]);
    let added = ["metric `tc_loads_total` now has `a`", "metric `tc_loads_total` now has `b`"];
    breaks(set("metrics", "labels", one_more), &added);
}

#[test]
fn a_value_of_a_label_that_is_gone_breaks_and_a_new_one_does_not() {
    let texts = |texts: Value| move |now: &mut Value| now["metrics"][0]["labels"][0]["texts"] = texts.clone();
    let whose = "label `tc.source.type` of metric `tc_loads_total`";
    breaks(texts(json!(["remote"])), &[&format!("{whose} no longer has `disk`")]);
    passes(texts(json!(["remote", "disk", "peer"])), &[&format!("{whose} now has `peer`")]);
    // Too many to be listed.
    passes(texts(json!([])), &[]);
}

#[test]
fn what_matters_little_is_told_and_passes() {
    let set = |list: &'static str, field: &'static str, value: Value| {
        move |now: &mut Value| now[list][0][field] = value.clone()
    };
    passes(
        set("metrics", "buckets", json!([1.0])),
        &["the buckets of metric `tc_loads_total` changed from none to [1.0]"],
    );
    passes(
        set("metrics", "number", json!("f64")),
        &["the number type of metric `tc_loads_total` changed from U64 to F64"],
    );
    passes(set("spans", "keys", json!(["tc.a", "tc.source.type"])), &["span `Store/Load` now has `tc.a`"]);
    passes(set("keys", "baggage", json!(true)), &["key `tc.size` is now sent as baggage"]);
    passes(set("metrics", "description", json!("Other words.")), &[]);
}

#[test]
fn more_series_than_allowed_break() {
    let grow = |now: &mut Value| now["metrics"][0]["series"] = json!(10);
    let text = |allowed: u64| format!("up to 8 more series ({allowed} allowed): `tc_loads_total` 2 -> 10");
    let comparison = compared(0, grow);
    assert_eq!(comparison.breaking(), [text(0)]);
    assert!(comparison.to_string().ends_with("at most 3 series before, 11 now\n"), "{comparison}");
    assert!(!compared(7, grow).passes());
    let allowed = compared(8, grow);
    assert!(allowed.passes());
    assert_eq!(allowed.others(), [text(8)]);
    // Fewer elsewhere do not make up for it.
    let moved = |now: &mut Value| {
        grow(now);
        now["metrics"][1]["series"] = json!(0);
    };
    assert!(!compared(7, moved).passes());
    let mut larger = before();
    grow(&mut larger);
    assert!(read(&before()).compare(&read(&larger), 0).passes(), "fewer are welcome");
    let most = |now: &mut Value| {
        now["metrics"].as_array_mut().unwrap().iter_mut().for_each(|metric| metric["series"] = json!(u64::MAX))
    };
    assert!(!compared(u64::MAX - 1, most).passes(), "no overflow");
}

#[test]
fn a_name_that_is_there_in_several_ways_is_compared_way_by_way() {
    let more = |now: &mut Value| {
        for unit in ["s", "By"] {
            let mut other = now["metrics"][0].clone();
            other["unit"] = json!(unit);
            now["metrics"].as_array_mut().unwrap().insert(1, other);
        }
    };
    breaks(more, &["metric `tc_loads_total` has more variants: 3, was 1"]);
    let mut three = before();
    more(&mut three);
    assert_eq!(read(&three).compare(&read(&three), 0).to_string(), "nothing has changed: at most 7 series\n");
    let fewer = read(&before()).compare(&read(&three), 0);
    assert_eq!(fewer.breaking(), ["metric `tc_loads_total` has fewer variants: 1, was 3"]);
}
