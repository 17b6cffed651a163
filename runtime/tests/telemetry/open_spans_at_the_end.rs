//! Spans that are open when telemetry ends: they are in the report, and are exported as unfinished if that is wanted. Each
//! counts once, also if it ends later.
//!
//! What ends later would be part of the next telemetry in the process, so each test has one of its own.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::trace::v1::Span as Received;
use tracecast::config::Config;
use tracecast::prelude::*;
use tracecast::{Kind, Report, Span};
use tracecast_receiver::Receiver;

use crate::child::is_alone;

const LONG: Duration = Duration::from_secs(20);

#[tc_span("Open/Child")]
fn child() {}

fn start(name: &'static str) -> Span {
    Span::builder(name, Kind::Server).start()
}

fn text(span: &Received, key: &str) -> Option<String> {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    let attribute = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

fn assert_law(report: &Report) {
    let gone = report.spans_exported + report.spans_dropped + report.spans_unconfirmed;
    assert_eq!(report.spans_ended, gone + report.spans_pending + report.spans_spooled, "{report}");
}

#[test]
fn open_spans_are_in_the_report_and_not_exported_unless_told() {
    if !is_alone(module_path!(), "open_spans_are_in_the_report_and_not_exported_unless_told") {
        return;
    }
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).init().unwrap();
    let held: Vec<_> = ["Open/A", "Open/B", "Open/A"].into_iter().map(start).collect();
    child();
    let report = telemetry.shutdown(LONG);
    assert_law(&report);
    assert_eq!((report.spans_ended, report.spans_open), (1, 3), "{report}");
    assert_eq!(report.open_spans().collect::<Vec<_>>(), [("Open/A", 2), ("Open/B", 1)]);
    assert!(report.to_string().contains("3 spans still open: Open/A (2), Open/B (1)"), "{report}");
    assert_eq!(receiver.span_names(), ["Open/Child"]);
    drop(held);
}

#[test]
fn an_unfinished_span_is_exported_once_also_if_it_ends_later() {
    if !is_alone(module_path!(), "an_unfinished_span_is_exported_once_also_if_it_ends_later") {
        return;
    }
    let first = Receiver::start();
    let config = |receiver: &Receiver| Config::new().with_endpoint(receiver.endpoint()).with_unfinished_spans();
    let telemetry = config(&first).init().unwrap();
    let before = SystemTime::now();
    let mut open = start("Open/Long");
    let given = Span::builder("Open/Given", Kind::Internal).with_start(before - Duration::from_secs(60)).start();
    open.set(tracecast::keys::tensor::artifact, "llama");
    open.in_scope(child);
    let report = telemetry.shutdown(LONG);
    assert_law(&report);
    assert_eq!((report.spans_ended, report.spans_exported, report.spans_open), (3, 3, 2), "{report}");

    let spans = first.spans();
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (long, below) = (named("Open/Long"), named("Open/Child"));
    assert_eq!(text(long, "tc.outcome").as_deref(), Some("unfinished"));
    assert_eq!(text(long, "tc.artifact.id"), None, "other threads' attributes are not read");
    assert_eq!((&below.parent_span_id, &below.trace_id), (&long.span_id, &long.trace_id), "no orphans");
    assert!(long.start_time_unix_nano <= below.start_time_unix_nano);
    assert!(long.end_time_unix_nano >= below.end_time_unix_nano, "until now");
    let minutes = named("Open/Given").end_time_unix_nano - named("Open/Given").start_time_unix_nano;
    assert!((60_000_000_000..120_000_000_000).contains(&minutes), "{minutes}");

    // They end while telemetry is off, and while it is on again.
    drop(given);
    let second = Receiver::start();
    let telemetry = config(&second).init().unwrap();
    drop(open);
    child();
    let report = telemetry.shutdown(LONG);
    assert_law(&report);
    assert_eq!((report.spans_exported, report.spans_open), (1, 0), "{report}");
    assert_eq!(second.span_names(), ["Open/Child"]);
}

#[test]
fn heads_are_read_whole_beside_threads_that_open_and_end_spans() {
    if !is_alone(module_path!(), "heads_are_read_whole_beside_threads_that_open_and_end_spans") {
        return;
    }
    let receiver = Receiver::start();
    let telemetry = Config::new().with_endpoint(receiver.endpoint()).with_unfinished_spans().init().unwrap();
    let stop = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        for thread in 0..3 {
            let stop = &stop;
            scope.spawn(move || {
                let names = [["Open/A", "Open/B"], ["Open/C", "Open/D"], ["Open/E", "Open/F"]][thread];
                while !stop.load(Relaxed) {
                    let mut outer = start(names[0]);
                    outer.in_scope(|| drop(start(names[1])));
                }
            });
        }
        let report = loop {
            let report = telemetry.flush(Duration::from_millis(200));
            if report.spans_ended > 20_000 {
                break telemetry.shutdown(LONG);
            }
        };
        stop.store(true, Relaxed);
        report
    });
    assert_law(&report);
    let spans = receiver.spans();
    let mut ids: Vec<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "none was exported twice");
    for span in &spans {
        // An inner span has a parent, an outer one has none.
        let is_inner = ["Open/B", "Open/D", "Open/F"].contains(&span.name.as_str());
        assert_eq!(is_inner, !span.parent_span_id.is_empty(), "{span:?}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    }
}
