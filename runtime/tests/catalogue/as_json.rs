//! The catalogue is written as JSON that says what is exported, and is read back to the same.

use std::borrow::Cow;

use serde_json::{Value, json};
use tracecast::Label;
use tracecast::catalogue::CatalogueData;
use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;

/// A service and its method, which depend on each other.
#[derive(Clone, Copy)]
pub struct Method(usize);

impl Label for Method {
    const CARDINALITY: usize = 3;
    const PARTS: &'static [&'static str] = &["rpc.service", "rpc.method"];

    fn ordinal(self) -> usize {
        self.0
    }

    fn value(ordinal: usize) -> Cow<'static, str> {
        Cow::Owned(format!("Store/{ordinal}"))
    }

    fn part(ordinal: usize, part: usize) -> Cow<'static, str> {
        if part == 0 { Cow::Borrowed("Store") } else { Cow::Owned(ordinal.to_string()) }
    }
}

mod keys {
    use super::Method;

    tracecast::tc_keys! {
        /// The method.
        pub label method: Method = "tc.method";
        /// Who asks.
        pub label tenant: Interned<4> = "tc.tenant.class";
        /// Of the whole session.
        pub id session: str = "tc.session.id" { baggage };
        /// Where a model stops.
        pub id stop: [str] = "tc.model.stop";
        /// What it thinks of it.
        pub measure scores: [f64] = "tc.model.scores";
        /// How "large", in C:\bytes.
        pub measure large: u64 = "tc.large.bytes";
    }
}

tc_metrics! {
    /// Bytes moved between peers.
    pub static P2P_BYTES: Counter<(source, device)> = "tc_p2p_bytes_total" { unit: "By" };
    /// Calls by method.
    static CALLS: Counter<(keys::method, keys::tenant)> = "tc_calls_total";
    /// How long.
    static LOAD: Histogram = "tc_load_seconds" { buckets: [0.001, 0.1, 2.5] };
    /// How large.
    static SIZES: Histogram<(), u64> = "tc_tensor_bytes" { exponential };
    /// A name of the semantic conventions.
    static SERVED: Gauge = "http.server.load" { unit: "1" };
}

mod elsewhere {
    use tracecast::prelude::*;

    tc_metrics! {
        /// The same in other words.
        pub static LOAD: Histogram = "tc_load_seconds" { buckets: [0.001, 0.1, 2.5] };
    }
}

#[tc_span("StoreDaemon/Fetch", kind = client, attrs(keys::session = "s"))]
#[tc_metric(calls = "tc_fetches_total", labels(source = from))]
fn fetch(from: SourceType) -> Result<(), std::io::Error> {
    let _ = from;
    another();
    Ok(())
}

fn another() {
    let _same = tc_scope!("StoreDaemon/Fetch", kind = client, attrs(keys::large = 1_u64));
}

fn catalogue() -> Value {
    let _ = fetch(SourceType::Disk);
    serde_json::from_str(&tracecast::catalogue().data().to_json()).unwrap()
}

/// The package of these tests, as a catalogue has it.
const OWN: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

fn find<'a>(list: &'a Value, name: &str) -> Vec<&'a Value> {
    list.as_array().unwrap().iter().filter(|entry| entry["name"] == name).collect()
}

#[test]
fn a_span_is_listed_once_with_the_keys_of_all_its_places() {
    let all = catalogue();
    let keys = ["tc.large.bytes", "tc.session.id"];
    let span = json!({"name": "StoreDaemon/Fetch", "kind": "client", "keys": keys, "crates": [OWN], "places": 2});
    assert_eq!(find(&all["spans"], "StoreDaemon/Fetch"), [&span]);
}

#[test]
fn keys_say_what_they_are() {
    let all = catalogue();
    let session = json!({"name": "tc.session.id", "kind": "id", "type": "str", "values": null, "baggage": true,
        "description": "Of the whole session."});
    assert_eq!(find(&all["keys"], "tc.session.id"), [&session]);
    let large = find(&all["keys"], "tc.large.bytes")[0];
    assert_eq!(large["description"], r#"How "large", in C:\bytes."#);
    assert_eq!((&large["kind"], &large["type"]), (&json!("measure"), &json!("u64")));
    assert_eq!(find(&all["keys"], "tc.tenant.class")[0]["values"], 5);
}

struct Request {
    id: String,
}

#[tc_span("Edge/Serve", attrs("test.path" = path, "test.id" = &request.id, "test.tags": [str] = [&request.id, path]))]
fn serve(request: &Request, path: &str) {
    let _scope = tc_scope!("Edge/Part", attrs("test.part" = 7));
}

#[test]
fn lists_and_attributes_named_in_place_have_their_types() {
    serve(&Request { id: String::new() }, "");
    let all = catalogue();
    let key = |name: &str| {
        let found = find(&all["keys"], name);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        (found[0]["kind"].as_str().unwrap().to_owned(), found[0]["type"].as_str().unwrap().to_owned())
    };
    let of = |kind: &str, ty: &str| (kind.to_owned(), ty.to_owned());
    assert_eq!(key("tc.model.stop"), of("id", "str[]"));
    assert_eq!(key("tc.model.scores"), of("measure", "f64[]"));
    assert_eq!(key("test.path"), of("ad_hoc", "str"), "by the signature");
    assert_eq!(key("test.id"), of("ad_hoc", "any"), "only the value knows it");
    assert_eq!(key("test.tags"), of("ad_hoc", "str[]"), "as it was written down");
    assert_eq!(key("test.part"), of("ad_hoc", "i64"));
    assert_eq!(find(&all["spans"], "Edge/Serve")[0]["keys"], json!(["test.id", "test.path", "test.tags"]));

    let data = tracecast::catalogue().data();
    assert_eq!(CatalogueData::from_json(&data.to_json()), Ok(data));
    let markdown = tracecast::catalogue().to_markdown();
    assert!(
        markdown.contains("| `Edge/Serve` | Internal | test.path: Str, test.id: Any, test.tags: Str[] |"),
        "{markdown}"
    );
    assert!(markdown.contains("| `tc.model.stop` | Id | Str[] | Where a model stops. |"), "{markdown}");
    let place = tracecast::catalogue().keys.iter().find(|key| key.name == "test.tags").map(|key| key.location);
    assert!(place.is_some_and(|place| place.file().ends_with("as_json.rs")), "{place:?}");
}

#[test]
fn metrics_say_what_is_exported() {
    let all = catalogue();
    let one = |name: &str| {
        let found = find(&all["metrics"], name);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        found[0].clone()
    };
    let bytes = one("tc_p2p_bytes_total");
    assert_eq!(bytes["labels"][0], json!({"attributes": ["tc.source.type"], "values": 2, "texts": ["remote", "disk"]}));
    assert_eq!((&bytes["series"], &bytes["unit"], &bytes["group"]), (&json!(34), &json!("By"), &json!("p2p")));
    assert_eq!((&bytes["kind"], &bytes["number"], &bytes["budget"]), (&json!("counter"), &json!("u64"), &json!(2000)));

    let calls = one("tc_calls_total");
    let method = json!({"attributes": ["rpc.service", "rpc.method"], "values": 3, "texts": []});
    let tenant = json!({"attributes": ["tc.tenant.class"], "values": 5, "texts": []});
    assert_eq!(calls["labels"], json!([method, tenant]), "parts by their names, nothing of what is learnt");

    assert_eq!(one("tc_load_seconds")["buckets"], json!([0.001, 0.1, 2.5]), "declared twice, listed once");
    assert_eq!(one("tc_tensor_bytes")["buckets"], "exponential");
    let served = one("http.server.load");
    assert_eq!((&served["prometheus"], &served["group"]), (&json!("http_server_load_ratio"), &json!("http")));
    let fetches = one("tc_fetches_total");
    assert_eq!(fetches["group"], "StoreDaemon", "the component whose function it measures");
    let outcome = json!({"attributes": ["outcome"], "values": 4, "texts": ["ok", "error", "cancelled", "panicked"]});
    assert_eq!(fetches["labels"][1], outcome);
}

#[test]
fn metrics_about_telemetry_itself_are_a_group() {
    let all = catalogue();
    assert_eq!(find(&all["metrics"], "tc_spans_exported_total")[0]["group"], "telemetry");
}

#[test]
fn the_text_is_versioned_sorted_and_the_same_each_time() {
    let text = tracecast::catalogue().data().to_json();
    assert_eq!(text, tracecast::catalogue().data().to_json());
    let all = catalogue();
    assert_eq!(all["tracecast_catalogue"], 1);
    for list in ["spans", "keys", "metrics"] {
        let names: Vec<&str> =
            all[list].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert!(!names.is_empty() && names.is_sorted(), "{list}: {names:?}");
    }
    assert!(!text.contains(".rs"), "places would change with every edit");
}

#[test]
fn it_is_read_back_to_the_same() {
    let data = tracecast::catalogue().data();
    let text = data.to_json();
    let read = CatalogueData::from_json(&text).unwrap();
    assert_eq!(read, data);
    assert_eq!(read.to_json(), text);
}

#[test]
fn what_is_not_a_catalogue_is_refused_by_name() {
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut all = catalogue();
        change(&mut all);
        let error = CatalogueData::from_json(&all.to_string()).unwrap_err().to_string();
        let (error, column) = error.rsplit_once(" at line 1 column ").unwrap_or_else(|| panic!("{error} has no place"));
        assert_eq!(error, format!("not a catalogue: {expected}"));
        assert!(column.parse::<usize>().is_ok(), "{column}");
    };
    check(&|all| *all = json!([]), "invalid length 0, expected a catalogue");
    check(&|all| *all = json!("text"), "invalid type: string \"text\", expected a catalogue");
    check(&|all| *all = json!({}), "missing field `tracecast_catalogue`");
    check(&|all| all["tracecast_catalogue"] = json!(2), "`tracecast_catalogue`: version 2; expected 1");
    check(&|all| all["spans"] = json!({}), "`spans`: invalid type: map, expected a sequence");
    check(
        &|all| all["metrics"][0]["series"] = json!(-1),
        "`metrics[0].series`: invalid value: integer `-1`, expected u64",
    );
    check(&|all| all["metrics"][1]["labels"] = json!([{}]), "`metrics[1].labels[0]`: missing field `attributes`");
    let kinds = "`metrics[0].kind`: `meter` is not one of counter, up_down_counter, gauge, histogram";
    check(&|all| all["metrics"][0]["kind"] = json!("meter"), kinds);
    let buckets = "`metrics[0].buckets`: expected null, `exponential` or a list of numbers";
    check(&|all| all["metrics"][0]["buckets"] = json!("linear"), buckets);
    let error = CatalogueData::from_json("{\n").unwrap_err().to_string();
    assert_eq!(error, "not a catalogue: EOF while parsing an object at line 2 column 0");
    let mut more = catalogue();
    more["later"] = json!({"of": "another version"});
    assert!(CatalogueData::from_json(&more.to_string()).is_ok());
}
