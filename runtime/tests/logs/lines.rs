//! Events as lines: what stands in them, and the ids of the trace wherever a context is active.

use std::cell::Cell;
use std::error::Error;
use std::fmt;

use serde_json::{Value, json};
use tracecast::__logs::{Options, TestLogs};
use tracecast::prelude::*;
use tracecast::testing::{Recording, RecordingConfig};
use tracecast::{Context, Sampler, SpanId, TraceId};
use tracing::{debug, error, info, trace, warn};
use tracing_subscriber::layer::SubscriberExt;

use crate::turn::turn;

/// Runs `f` under a subscriber with our layer, and gives the lines that it left.
fn lines(options: Options, f: impl FnOnce()) -> Vec<String> {
    let _turn = turn();
    let logs = TestLogs::start(options);
    let subscriber = tracing_subscriber::registry().with(tracecast::logs::layer());
    tracing::subscriber::with_default(subscriber, f);
    logs.lines()
}

fn parsed(f: impl FnOnce()) -> Vec<Value> {
    lines(Options::default(), f).iter().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The members of a line but its time, which is checked here.
fn members(mut line: Value) -> Value {
    let timestamp = line.as_object_mut().unwrap().remove("timestamp").unwrap();
    let digits: String = timestamp.as_str().unwrap().replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(digits, "0000-00-00T00:00:00.000000Z");
    line
}

#[test]
fn a_line_says_what_happened_where_and_in_which_service() {
    let lines = parsed(|| {
        info!(target: "store::disk", bytes = 5_u64, path = "/a b", ok = true, ratio = 0.5, "read {}", "it");
        error!("plain");
        warn!(only = -1);
        debug!(message = "as a field");
        trace!("t");
    });
    let mut lines = lines.into_iter().map(members);
    assert_eq!(
        lines.next().unwrap(),
        json!({"level": "info", "service": "tested", "target": "store::disk", "message": "read it",
               "bytes": 5, "path": "/a b", "ok": true, "ratio": 0.5})
    );
    let target = "logs::lines";
    let rest = [
        json!({"level": "error", "service": "tested", "target": target, "message": "plain"}),
        json!({"level": "warn", "service": "tested", "target": target, "message": "", "only": -1}),
        json!({"level": "debug", "service": "tested", "target": target, "message": "as a field"}),
        json!({"level": "trace", "service": "tested", "target": target, "message": "t"}),
    ];
    assert_eq!(lines.collect::<Vec<_>>(), rest);
}

#[test]
fn a_field_cannot_pass_for_one_of_ours() {
    let lines = parsed(|| info!(level = "error", trace_id = 7, fields = "f", "level.x" = 1, "m"));
    assert_eq!(
        members(lines[0].clone()),
        json!({"level": "info", "service": "tested", "target": "logs::lines", "message": "m", "level.x": 1,
               "fields": {"level": "error", "trace_id": 7, "fields": "f"}})
    );
}

#[test]
fn a_field_named_message_stays_beside_the_text() {
    let events = || {
        warn!(message = "inner", "outer");
        warn!({ message = 7, other = true }, "outer {}", 2);
        warn!(message = "alone", other = 1);
    };
    let lines = parsed(events);
    let parts: Vec<_> = lines.iter().map(|line| (&line["message"], &line["fields"]["message"])).collect();
    let expected = [(json!("outer"), json!("inner")), (json!("outer 2"), json!(7)), (json!("alone"), Value::Null)];
    assert_eq!(parts, expected.each_ref().map(|(text, field)| (text, field)));
    let text = super::lines::lines(Options { text: true, ..Options::default() }, events);
    assert_eq!(&text[0][27..], "  WARN logs::lines: outer message=inner\n");
}

#[test]
fn numbers_that_json_does_not_have_are_text() {
    let lines = parsed(|| {
        info!(nan = f64::NAN, inf = f64::INFINITY, neg = f64::NEG_INFINITY, big = u128::MAX, small = i128::MIN);
        info!(fits = 7_u128, below = -7_i128, max = u64::MAX, min = i64::MIN, tiny = 5e-324);
    });
    let first = [
        ("nan", json!("NaN")),
        ("inf", json!("Infinity")),
        ("neg", json!("-Infinity")),
        ("big", json!(u128::MAX.to_string())),
        ("small", json!(i128::MIN.to_string())),
    ];
    let second = [
        ("fits", json!(7)),
        ("below", json!(-7)),
        ("max", json!(u64::MAX)),
        ("min", json!(i64::MIN)),
        ("tiny", json!(5e-324)),
    ];
    for (line, expected) in [(&lines[0], first), (&lines[1], second)] {
        for (name, value) in expected {
            assert_eq!(line[name], value, "{name}");
        }
    }
}

/// The ids of a line, or nulls.
fn ids(line: &Value) -> [Value; 3] {
    ["trace_id", "span_id", "trace_flags"].map(|name| line[name].clone())
}

fn ids_of(context: &Context) -> [Value; 3] {
    let flags = if context.is_sampled() { "01" } else { "00" };
    [json!(context.trace_id().to_string()), json!(context.span_id().to_string()), json!(flags)]
}

#[tc_span("Logs/Work")]
fn work(contexts: &mut Vec<Context>) {
    contexts.push(Context::current());
    info!("inside");
}

#[test]
fn ids_are_there_in_sampled_and_unsampled_spans_and_absent_outside() {
    for (sampler, flags) in [(Sampler::AlwaysOn, "01"), (Sampler::AlwaysOff, "00")] {
        let mut contexts = Vec::new();
        let lines = parsed(|| {
            let _recording = Recording::start(RecordingConfig::default().with_sampler(sampler)).unwrap();
            info!("before");
            work(&mut contexts);
            info!("after");
        });
        assert!(contexts[0].is_valid());
        assert_eq!(ids(&lines[1]), ids_of(&contexts[0]));
        assert_eq!(lines[1]["trace_flags"], flags);
        for line in [&lines[0], &lines[2]] {
            assert_eq!(ids(line), [Value::Null, Value::Null, Value::Null]);
            assert!(line.get("trace_id").is_none());
        }
    }
}

#[test]
fn a_remote_context_counts_too() {
    for sampled in [true, false] {
        let context = Context::remote(TraceId(0xabc << 100), SpanId(7), sampled);
        let lines = parsed(|| {
            let _recording = Recording::start(RecordingConfig::default()).unwrap();
            context.run(|| info!("m"));
        });
        assert_eq!(ids(&lines[0]), ids_of(&context));
    }
}

#[tc_span("Logs/Async")]
async fn across_awaits(name: &'static str) -> Context {
    info!(name, at = 0);
    for at in 1..4 {
        tokio::task::yield_now().await;
        info!(name, at);
    }
    Context::current()
}

#[test]
fn ids_stay_with_their_future_across_awaits() {
    let mut contexts = Vec::new();
    let lines = parsed(|| {
        let _recording = Recording::start(RecordingConfig::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (a, b) = runtime.block_on(async { tokio::join!(across_awaits("a"), across_awaits("b")) });
        contexts.extend([("a", a), ("b", b)]);
    });
    assert_eq!(lines.len(), 8);
    assert_ne!(lines[0]["name"], lines[1]["name"], "they run in turn");
    for (name, context) in contexts {
        assert!(context.is_valid());
        let own: Vec<_> = lines.iter().filter(|line| line["name"] == name).collect();
        assert_eq!(own.len(), 4);
        own.iter().for_each(|line| assert_eq!(ids(line), ids_of(&context)));
    }
}

#[derive(Debug)]
struct Failed(&'static str, Option<Box<Failed>>);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|source| source as &dyn Error)
    }
}

/// An error that is its own cause, with another text each time.
#[derive(Debug)]
struct Endless(Cell<u32>);

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 1);
        write!(f, "cause {}", self.0.get())
    }
}

impl Error for Endless {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

#[test]
fn an_error_is_written_with_its_sources() {
    let refused = Failed("refused", None);
    let connect = Failed("could not connect: refused", Some(Box::new(refused)));
    let load = Failed("could not load", Some(Box::new(connect)));
    let lines = parsed(|| {
        error!(error = &load as &dyn Error, "failed");
        error!(error = &Endless(Cell::new(0)) as &dyn Error, "failed");
    });
    assert_eq!(lines[0]["error"], "could not load: could not connect: refused");
    let expected: Vec<_> = (1..=17).map(|at| format!("cause {at}")).collect();
    assert_eq!(lines[1]["error"], expected.join(": "), "the error and sixteen sources");
}

#[test]
fn texts_are_cut_and_fields_past_the_limit_are_counted() {
    let options = Options { attributes: 2, value_bytes: 5, ..Options::default() };
    let lines = lines(options, || {
        info!(target: "t", a = "äöü", b = format_args!("{}", "x".repeat(99)), c = 1, d = 2, "123456");
        info!(target: "t", a = "12345", b = format_args!("{}{}", "äö", "x"), "{}", "1234ö");
    });
    let exact = members(serde_json::from_str(&lines[1]).unwrap());
    assert_eq!((&exact["a"], &exact["b"], &exact["message"]), (&json!("12345"), &json!("äöx"), &json!("12…")));
    let line = members(serde_json::from_str(&lines[0]).unwrap());
    assert_eq!(
        line,
        json!({"level": "info", "service": "tested", "target": "t", "message": "12…", "a": "ä…", "b": "xx…",
               "dropped_fields": 2})
    );
}

#[test]
fn every_text_is_redacted_and_before_it_is_cut() {
    let redact = |_: &str, text: &str| text.contains("hunter2").then(|| text.replace("hunter2", "***"));
    let options = Options { value_bytes: 10, redact: Some(redact), ..Options::default() };
    let failed = Failed("hunter2 failed", None);
    let lines = lines(options, || {
        info!(a = "is hunter2", b = %"is hunter2", c = ?"hunter2", "pass hunter2");
        error!(error = &failed as &dyn Error, "hunter2");
        info!("12345 {}", "hunter2");
    });
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(!line.contains("hunter") && line.contains("***"), "{line}");
    }
}

#[test]
fn text_for_people_is_one_line_without_colours() {
    let options = Options { text: true, ..Options::default() };
    let context = Context::remote(TraceId(0x4bf9_2f35 << 96), SpanId(1), true);
    let lines = lines(options, || {
        let _recording = Recording::start(RecordingConfig::default()).unwrap();
        context.run(|| warn!(target: "store", path = "a b", bytes = 5, odd = "\x1b[31m", "it\nburns \x1b[0m"));
        info!("plain");
    });
    assert_eq!(
        &lines[0][27..],
        "  WARN store: it\\nburns \\u{1b}[0m path=\"a b\" bytes=5 odd=\\u{1b}[31m trace=4bf92f35\n"
    );
    assert_eq!(&lines[1][27..], "  INFO logs::lines: plain\n");
}
