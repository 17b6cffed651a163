//! Where there is no subscriber and no logger, ours are installed, once, and follow what is behind them. A process has one
//! of each, so this is one test.

use serde_json::Value;
use tracecast::__logs::{Options, TestLogs, is_installed};
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, OwnedValue, SpanId, TraceId};
use tracing_core::callsite::DefaultCallsite;

use crate::child::is_alone;

fn lines(logs: &TestLogs) -> Vec<Value> {
    logs.lines().iter().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn messages(logs: &TestLogs) -> Vec<String> {
    lines(logs).iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
}

fn events() {
    tracing::info!("tracing info");
    tracing::debug!("tracing debug");
    tracing::debug!(target: "loud", "tracing loud");
    log::info!("log info");
    log::debug!("log debug");
    log::debug!(target: "loud", "log loud");
}

static CALLSITE: DefaultCallsite = DefaultCallsite::new(&METADATA);
static METADATA: tracing::Metadata<'static> = tracing_core::metadata! {
    name: "event", target: module_path!(), level: tracing::Level::INFO, fields: &["message"], callsite: &CALLSITE,
    kind: tracing_core::Kind::EVENT
};

/// Does what `tracing` does with its feature `log-always`: an event comes as a record too, after it, or before it if it has an
/// explicit parent.
fn both_ways_of_one_event_count_once() {
    let field = METADATA.fields().field("message").unwrap();
    let event = || {
        let text: &dyn tracing::field::Value = &"one";
        tracing::Event::dispatch(&METADATA, &METADATA.fields().value_set(&[(&field, Some(text))]));
    };
    let record = || {
        let metadata = log::Metadata::builder().level(log::Level::Info).target(METADATA.target()).build();
        let mut record = log::Record::builder();
        record.metadata(metadata).file(METADATA.file()).line(METADATA.line()).module_path(METADATA.module_path());
        log::logger().log(&record.args(format_args!("one")).build());
    };
    for first_event in [true, true, false, false] {
        if first_event {
            event();
            record();
        } else {
            record();
            event();
        }
    }
}

#[test]
fn ours_are_installed_once_and_follow_the_inside() {
    if !is_alone(module_path!(), "ours_are_installed_once_and_follow_the_inside") {
        return;
    }
    events();
    let quiet = TestLogs::start(Options::default());
    assert_eq!(is_installed(), (false, false), "nobody asked for it");
    events();
    assert!(quiet.lines().is_empty());
    drop(quiet);

    let logs = TestLogs::start(Options { filter: "info,loud=debug", install: true, ..Options::default() });
    assert_eq!(is_installed(), (true, true));
    assert_eq!(
        (log::max_level(), tracing::level_filters::LevelFilter::current().to_string()),
        (log::LevelFilter::Debug, "debug".to_owned())
    );
    events();
    assert_eq!(messages(&logs), ["tracing info", "tracing loud", "log info", "log loud"]);
    assert!(tracing::enabled!(tracing::Level::INFO) && !tracing::enabled!(tracing::Level::DEBUG));
    assert!(log::log_enabled!(target: "loud", log::Level::Debug) && !log::log_enabled!(log::Level::Debug));
    assert!(tracing::info_span!("off").is_disabled());

    logs.set_filter("debug");
    events();
    assert_eq!(messages(&logs).len(), 6);

    let _recording = Recording::start(RecordingConfig::default()).unwrap();
    let context = Context::remote(TraceId(3), SpanId(4), true);
    context.run(|| log::warn!(target: "kv", bytes = 5, path:? = "p", ok = true, ratio = 0.5; "from log {}", 1));
    let line = lines(&logs).remove(0);
    assert_eq!(line["message"], "from log 1");
    assert_eq!(line["trace_id"], context.trace_id().to_string());
    assert_eq!((&line["bytes"], &line["ok"], &line["ratio"]), (&5.into(), &true.into(), &0.5.into()));
    assert_eq!(line["path"], "\"p\"");
    let record = logs.records().pop().unwrap();
    assert_eq!((&*record.target, &*record.body, record.trace_id, record.sampled), ("kv", "from log 1", 3, true));
    let place: Vec<_> = record.attributes.iter().filter(|(name, _)| name.starts_with("code.")).collect();
    assert_eq!(place[0], &("code.file.path".into(), OwnedValue::Str(file!().into())));
    assert!(matches!(&place[1], (name, OwnedValue::I64(1..)) if name == "code.line.number"));

    both_ways_of_one_event_count_once();
    assert_eq!(messages(&logs), ["one", "one", "one", "one"]);

    // Two that only have the place in common.
    macro_rules! both {
        ($text:literal) => {
            tracing::info!($text);
            log::info!($text)
        };
    }
    both!("twice");
    log::info!("once");
    #[rustfmt::skip]
    let () = { tracing::info!("on one line"); log::info!("on one line") };
    assert_eq!(messages(&logs), ["twice", "twice", "once", "on one line", "on one line"]);
    tracing::info!(r#type = 1, "raw");
    assert_eq!(lines(&logs)[0]["type"], 1);

    drop(logs);
    assert_eq!(
        (log::max_level(), tracing::level_filters::LevelFilter::current().to_string()),
        (log::LevelFilter::Off, "off".to_owned())
    );
    events();
    let again = TestLogs::start(Options { filter: "info", install: true, ..Options::default() });
    events();
    assert_eq!(messages(&again), ["tracing info", "log info"]);
    assert_eq!(is_installed(), (true, true));
}
