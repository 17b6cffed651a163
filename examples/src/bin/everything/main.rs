//! Emits one of everything: spans of all kinds, metrics of all kinds, log events of all levels, and raw OpenTelemetry
//! beside them. Prints what it emitted as JSON, to be compared with what a receiver got.

mod limits;
mod logs;
mod made;
mod measures;
mod raw;
mod spans;

use std::error::Error;
use std::time::Duration;

use serde_json::json;
use tracecast::config::Config;
use tracecast::{Guard, OwnedValue};

use self::made::{Attributes, Between, array, attributes, double, flag, int, made, now, text, watched};

/// Limits of spans, small enough to be reached.
const EVENTS: u32 = 3;
const LINKS: u32 = 2;
const VALUE_BYTES: u32 = 300;
/// The limit for fields of a log record, including its source location.
const LOG_ATTRIBUTES: u32 = 16;
/// A timeout that suffices on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    // An intended panic needs no message.
    std::panic::set_hook(Box::new(|_| ()));
    let before = now();
    let telemetry = configured()?.init()?;
    let started = [before, now()];

    let mut collections = Vec::new();
    for round in 0..2 {
        if round == 0 {
            spans::make()?;
            watched(limits::limited);
            raw::spans();
            logs::make();
        }
        measures::make(round);
        raw::measure(round);
        if round == 0 {
            collections.push(flushed(&telemetry));
        }
    }
    measures::describe();
    raw::describe();
    let own = own_metrics();
    let before = now();
    let report = telemetry.shutdown(PATIENCE);
    collections.push([before, now()]);

    let made = made();
    let all = json!({
        "resource": resource(),
        "started": started,
        "collections": collections,
        "spans": made.spans,
        "metrics": made.metrics,
        "sampled": made.sampled,
        "logs": made.logs,
        "own": own,
        "report": {
            "complete": report.complete,
            "spans_ended": report.spans_ended,
            "spans_exported": report.spans_exported,
            "points_dropped": report.points_dropped,
            "logs_exported": report.logs_exported,
            "logs_dropped": report.logs_dropped,
        },
    });
    println!("{all}");
    Ok(())
}

/// The environment's configuration, with small limits and nothing that depends on time.
fn configured() -> Result<Config, Box<dyn Error>> {
    let config = Config::from_env()
        .with_strict(true)
        .with_limits(|limits| {
            limits.attributes = 16;
            limits.events = EVENTS;
            limits.links = LINKS;
            limits.attributes_per_event = 2;
            limits.value_bytes = VALUE_BYTES;
        })
        .with_metric_interval(Duration::from_secs(3600))
        .with_log_filter("trace".parse()?)
        .with_resource_attribute("tc.text", "ünïcode \"quoted\"\n\\")
        .with_resource_attribute("tc.int", i64::MIN)
        .with_resource_attribute("tc.double", 0.1)
        .with_resource_attribute("tc.flag", false)
        .with_resource_attribute("tc.texts", OwnedValue::StrArray(vec!["a".into(), String::new()]))
        .with_resource_attribute("tc.ints", OwnedValue::I64Array(vec![0, -1]))
        .with_resource_attribute("tc.doubles", OwnedValue::F64Array(vec![0.5, -0.0]))
        .with_resource_attribute("tc.flags", OwnedValue::BoolArray(vec![true, false]))
        .with_log_limits(|limits| (limits.attributes, limits.value_bytes) = (LOG_ATTRIBUTES, VALUE_BYTES));
    Ok(config)
}

fn flushed(telemetry: &Guard) -> Between {
    let before = now();
    let _ = telemetry.flush(PATIENCE);
    [before, now()]
}

/// The resource's attributes besides those from variables, determined by other means than the library's.
fn resource() -> Attributes {
    let mut all = attributes([
        ("tc.text", text("ünïcode \"quoted\"\n\\")),
        ("tc.int", int(i64::MIN)),
        ("tc.double", double(0.1)),
        ("tc.flag", flag(false)),
        ("tc.texts", array([text("a"), text("")])),
        ("tc.ints", array([int(0), int(-1)])),
        ("tc.doubles", array([double(0.5), double(-0.0)])),
        ("tc.flags", array([flag(true), flag(false)])),
        ("telemetry.sdk.name", text("tracecast")),
        ("telemetry.sdk.language", text("rust")),
        ("telemetry.sdk.version", text(env!("CARGO_PKG_VERSION"))),
        ("process.pid", int(i64::from(std::process::id()))),
    ]);
    let name = std::env::args().next().unwrap_or_default();
    all.insert("process.executable.name".into(), text(name.rsplit('/').next().unwrap_or_default()));
    all
}

/// Telemetry's metrics about itself, from the catalogue.
fn own_metrics() -> Vec<serde_json::Value> {
    let is_own = |metric: &serde_json::Value| !made().metrics.iter().any(|made| metric["name"] == made.name);
    let catalogue: serde_json::Value =
        serde_json::from_str(&tracecast::catalogue().data().to_json()).expect("the catalogue is JSON");
    let metrics = catalogue["metrics"].as_array().expect("its metrics are a list");
    metrics.iter().filter(|metric| is_own(metric)).cloned().collect()
}
