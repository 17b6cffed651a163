//! Log events of `tracing` and `log`, at all levels, inside and outside of spans, with fields of all types.

use std::fmt;

use tracecast::Context;
use tracecast::prelude::*;

use super::LOG_ATTRIBUTES;
use super::made::{Attributes, Record, Scope, Watch, attributes, double, flag, ids, int, made, now, text, watched};

/// Logs with `tracing` and notes the expected record. Inside this macro, the event and `line!` have the same location.
macro_rules! traced {
    ($level:ident, $expected:expr, $($event:tt)+) => {{
        let before = now();
        tracing::event!(tracing::Level::$level, $($event)+);
        logged(before, stringify!($level), module_path!(), line!(), $expected);
    }};
}

/// Logs with `log` and notes the expected record.
macro_rules! logged_by_log {
    ($level:ident, $expected:expr, $($event:tt)+) => {{
        let before = now();
        log::log!(log::Level::$level, $($event)+);
        logged(before, &stringify!($level).to_uppercase(), module_path!(), line!(), $expected);
    }};
}

/// The expected record: its body, its fields, and how many of them exceed the limit.
type Expected = (String, Attributes, u32);

fn says<const N: usize>(body: &str, fields: [(&str, serde_json::Value); N]) -> Expected {
    (body.to_owned(), attributes(fields), 0)
}

fn logged(before: u64, level: &str, target: &str, line: u32, (body, mut attributes, dropped): Expected) {
    let time = [before, now()];
    // The source location is added last, so it is dropped first.
    if dropped == 0 {
        attributes.insert("code.file.path".into(), text(file!()));
        attributes.insert("code.line.number".into(), int(i64::from(line)));
    }
    let context = Context::current();
    let (trace_id, span_id) = ids(&context);
    let scope = Scope { name: target.to_owned(), ..Scope::default() };
    let (level, sampled) = (level.to_owned(), context.is_valid() && context.is_sampled());
    let record =
        Record { scope, level, body, attributes, dropped_attributes: dropped, time, trace_id, span_id, sampled };
    made().logs.push(record);
}

pub(crate) fn make() {
    all_levels();
    watched(in_span);
    // Not sampled: no span, but log records.
    let remote = Context::remote(tracecast::TraceId(0xabc << 64), tracecast::SpanId(0xdef), false);
    remote.run(|| traced!(INFO, says("unsampled", []), "unsampled"));
    field_types();
    texts();
    too_many_fields();
}

#[tc_span("Everything/Log")]
fn in_span(watch: Watch) {
    watch.inside("Everything/Log", "internal", []);
    all_levels();
    watch.ending();
}

fn all_levels() {
    traced!(TRACE, says("traced", []), "traced");
    traced!(DEBUG, says("traced", []), "traced");
    traced!(INFO, says("traced", []), "traced");
    traced!(WARN, says("traced", []), "traced");
    traced!(ERROR, says("traced", []), "traced");
    logged_by_log!(Trace, says("logged", []), "logged");
    logged_by_log!(Debug, says("logged", []), "logged");
    logged_by_log!(Info, says("logged", []), "logged");
    logged_by_log!(Warn, says("logged", []), "logged");
    logged_by_log!(Error, says("logged", []), "logged");
}

#[derive(Debug)]
struct Outer(std::io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("could not load")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn field_types() {
    let error = Outer(std::io::Error::other("refused"));
    let error: &(dyn std::error::Error + 'static) = &error;
    let expected = says(
        "fields 5",
        [
            ("flag", flag(true)),
            ("negative", int(i64::MIN)),
            ("small", int(i64::MAX)),
            // OTLP has no unsigned integers.
            ("large", text(u64::MAX.to_string())),
            ("huge", text(u128::MAX.to_string())),
            ("ratio", double(0.1)),
            ("endless", double(f64::INFINITY)),
            ("name", text("ünïcode \"quoted\"\n\\\u{1}")),
            ("debug", text("Some(\"x\")")),
            ("display", text("shown")),
            ("error", text("could not load: refused")),
        ],
    );
    traced!(
        INFO,
        expected,
        flag = true,
        negative = i64::MIN,
        small = i64::MAX as u64,
        large = u64::MAX,
        huge = u128::MAX,
        ratio = 0.1,
        endless = f64::INFINITY,
        name = "ünïcode \"quoted\"\n\\\u{1}",
        debug = ?Some("x"),
        display = %"shown",
        error = error,
        nothing = tracing::field::Empty,
        "fields {}",
        5
    );
    let expected = says(
        "fields 6",
        [
            ("flag", flag(false)),
            ("negative", int(-1)),
            ("large", text(u64::MAX.to_string())),
            ("ratio", double(-0.0)),
            ("name", text("")),
            ("debug", text("Some(1)")),
        ],
    );
    logged_by_log!(
        Info,
        expected,
        flag = false,
        negative = -1_i64,
        large = u64::MAX,
        ratio = -0.0_f64,
        name = "",
        debug:? = Some(1);
        "fields {}",
        6
    );
}

fn texts() {
    let long = "ü".repeat(200);
    // The mark of a cut text counts towards the limit.
    let cut = format!("{}…", "ü".repeat((super::VALUE_BYTES as usize - "…".len()) / 2));
    traced!(INFO, says(&cut, [("long", text(&cut))]), long = long, "{long}");
    traced!(INFO, says("line\nline\t\u{1b}[31m\u{2028}", []), "line\nline\t\u{1b}[31m\u{2028}");
    // No message: no body.
    traced!(INFO, says("", [("only", int(1))]), only = 1);
}

fn too_many_fields() {
    let names: Vec<String> = (0..LOG_ATTRIBUTES + 3).map(|at| format!("f{at:02}")).collect();
    let kept = names.iter().take(LOG_ATTRIBUTES as usize);
    let kept = kept.enumerate().map(|(at, name)| (name.clone(), int(at as i64))).collect();
    // Three fields and the two of the location.
    let expected = ("too many".to_owned(), kept, 5);
    let pairs: Vec<(&str, i64)> = names.iter().map(String::as_str).zip(0..).collect();
    let before = now();
    let line = line!() + 1;
    log::logger().log(
        &log::Record::builder()
            .level(log::Level::Warn)
            .target(module_path!())
            .file(Some(file!()))
            .line(Some(line))
            .args(format_args!("too many"))
            .key_values(&pairs)
            .build(),
    );
    logged(before, "WARN", module_path!(), line, expected);
}
