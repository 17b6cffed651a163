//! A program that sends `log` records through tracing-log's `LogTracer`: they come once, and as what they were.

use serde_json::Value;
use tracecast::__logs::{Options, TestLogs, is_installed};
use tracing_subscriber::layer::SubscriberExt;

use crate::child::is_alone;

fn lines(logs: &TestLogs) -> Vec<Value> {
    logs.lines().iter().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn check(logs: &TestLogs) {
    log::info!(target: "store::disk", "from log");
    log::debug!(target: "store::disk", "too much");
    log::debug!(target: "loud::disk", "loud");
    let lines = lines(logs);
    let of = |line: &Value| [line["target"].clone(), line["message"].clone()];
    assert_eq!(lines.iter().map(of).collect::<Vec<_>>(), [["store::disk", "from log"], ["loud::disk", "loud"]]);
    assert!(lines.iter().all(|line| line.as_object().unwrap().keys().all(|name| !name.starts_with("log."))));
    let records = logs.records();
    assert_eq!(records.len(), 2);
    let names: Vec<_> = records[0].attributes.iter().map(|(name, _)| &**name).collect();
    assert_eq!((&*records[0].target, names), ("store::disk", vec!["code.file.path", "code.line.number"]));
    assert_eq!(records[0].attributes[0].1.to_string(), file!());
}

#[test]
fn records_come_once_with_their_own_target_and_place() {
    if !is_alone(module_path!(), "records_come_once_with_their_own_target_and_place") {
        return;
    }
    tracing_log::LogTracer::init().unwrap();
    let options = || Options { filter: "info,loud=debug", install: true, ..Options::default() };
    let logs = TestLogs::start(options());
    assert_eq!(is_installed(), (true, false), "the logger is the user's");
    check(&logs);
    assert_eq!(log::max_level(), log::LevelFilter::Trace, "and so is its level");
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::with_default(subscriber, || check(&logs));
}
