//! The OpenTelemetry API beside Tracecast: spans of both in one tree, instruments beside metrics.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, UpDownCounter};
use opentelemetry::trace::{
    Link as RawLink, Span as _, SpanContext, SpanKind, Status as RawStatus, TraceContextExt as _, TraceState,
    Tracer as _,
};
use opentelemetry::{
    Array, Context as RawContext, InstrumentationScope, KeyValue, SpanId, StringValue, TraceFlags, TraceId, Value,
    global,
};
use tracecast::prelude::*;

use super::made::{
    Attributes, Event, Link, Metric, Point, Scope, Span, Status, Watch, array, attributes, double, flag, int, made,
    now, text, watched,
};

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("raw library")
        .with_version("1.2.3")
        .with_schema_url("https://opentelemetry.io/schemas/1.42.0")
        .with_attributes([KeyValue::new("raw.scope", true)])
        .build()
}

fn made_scope() -> Scope {
    Scope {
        name: "raw library".into(),
        version: "1.2.3".into(),
        schema_url: "https://opentelemetry.io/schemas/1.42.0".into(),
        attributes: attributes([("raw.scope", flag(true))]),
    }
}

pub(crate) fn spans() {
    watched(outer);
    in_full();
    below_another_process();
}

/// The first of four nested spans, alternately raw and Tracecast's, each the child of the one around it.
#[tc_span("Everything/AroundRaw")]
fn outer(watch: Watch) {
    watch.inside("Everything/AroundRaw", "internal", []);
    let tracer = global::tracer_with_scope(scope());
    let raw = Watch::new();
    raw.is_child_of(watch);
    tracer.in_span("raw in ours", |context| {
        is(raw, context.span().span_context(), "raw in ours", "internal");
        watched(|watch| inner(watch, raw));
        raw.ending();
    });
    raw.over();
    watch.ending();
}

#[tc_span("Everything/InRaw", kind = client)]
fn inner(watch: Watch, around: Watch) {
    watch.inside("Everything/InRaw", "client", []);
    watch.is_child_of(around);
    let raw = Watch::new();
    raw.is_child_of(watch);
    global::tracer_with_scope(scope()).in_span("innermost", |context| {
        is(raw, context.span().span_context(), "innermost", "internal");
        raw.ending();
    });
    raw.over();
    watch.ending();
}

/// Notes a raw span just after its start.
fn is(watch: Watch, context: &SpanContext, name: &str, kind: &'static str) {
    let after = now();
    watch.with(|span| {
        span.scope = made_scope();
        (span.trace_id, span.span_id) = (context.trace_id().to_string(), context.span_id().to_string());
        (span.name, span.kind, span.start[1]) = (name.to_owned(), kind, after);
    });
}

fn elsewhere(sampled: bool, is_remote: bool) -> SpanContext {
    let flags = TraceFlags::NOT_SAMPLED.with_sampled(sampled);
    let state = TraceState::from_key_value([("vendor", "a b"), ("other", "c")]).unwrap_or_default();
    SpanContext::new(TraceId::from(0xabcd << 64), SpanId::from(0x1234), flags, is_remote, state)
}

const STATE: &str = "vendor=a b,other=c";

fn texts(texts: &[&'static str]) -> Value {
    Value::Array(Array::String(texts.iter().map(|text| StringValue::from(*text)).collect()))
}

/// A raw span with everything that it may hold, at given times.
fn in_full() {
    let (start, moment, end) = (now() - 5_000_000_003, now() - 4_000_000_001, now() - 3_000_000_009);
    let at = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
    let tracer = global::tracer_with_scope(scope());
    let link = RawLink::new(elsewhere(false, true), vec![KeyValue::new("raw.link", 7)], 0);
    let builder = tracer.span_builder("first name").with_kind(SpanKind::Producer).with_start_time(at(start));
    let mut span = builder.with_links(vec![link]).start(&tracer);
    let own = span.span_context().clone();
    span.set_attribute(KeyValue::new("raw.text", "ünïcode \"quoted\"\n\\"));
    span.set_attribute(KeyValue::new("raw.int", i64::MIN));
    span.set_attribute(KeyValue::new("raw.double", 0.1));
    span.set_attribute(KeyValue::new("raw.flag", false));
    span.set_attribute(KeyValue::new("raw.texts", texts(&["a", ""])));
    span.set_attribute(KeyValue::new("raw.ints", Value::Array(Array::I64(vec![0, -1]))));
    span.set_attribute(KeyValue::new("raw.doubles", Value::Array(Array::F64(vec![0.5, -0.0]))));
    span.set_attribute(KeyValue::new("raw.flags", Value::Array(Array::Bool(vec![true, false]))));
    span.set_attribute(KeyValue::new("raw.none", Value::Array(Array::I64(Vec::new()))));
    span.add_event_with_timestamp("raw event", at(moment), vec![KeyValue::new("raw.flag", true)]);
    span.add_link(elsewhere(true, false), Vec::new());
    span.update_name("raw in full");
    span.set_status(RawStatus::error("it \"failed\"\n"));
    span.end_with_timestamp(at(end));
    let link = |sampled, is_remote, attributes: Attributes| Link {
        trace_id: elsewhere(true, true).trace_id().to_string(),
        span_id: elsewhere(true, true).span_id().to_string(),
        sampled,
        is_remote: Some(is_remote),
        trace_state: STATE.to_owned(),
        attributes,
    };
    made().spans.push(Span {
        scope: made_scope(),
        name: "raw in full".to_owned(),
        kind: "producer",
        trace_id: own.trace_id().to_string(),
        span_id: own.span_id().to_string(),
        start: [start; 2],
        end: [end; 2],
        attributes: attributes([
            ("raw.text", text("ünïcode \"quoted\"\n\\")),
            ("raw.int", int(i64::MIN)),
            ("raw.double", double(0.1)),
            ("raw.flag", flag(false)),
            ("raw.texts", array([text("a"), text("")])),
            ("raw.ints", array([int(0), int(-1)])),
            ("raw.doubles", array([double(0.5), double(-0.0)])),
            ("raw.flags", array([flag(true), flag(false)])),
            ("raw.none", array([])),
        ]),
        events: vec![Event {
            name: "raw event".to_owned(),
            time: [moment; 2],
            attributes: attributes([("raw.flag", flag(true))]),
            dropped_attributes: 0,
        }],
        links: vec![link(false, true, attributes([("raw.link", int(7))])), link(true, false, Attributes::new())],
        status: Status { code: "error", message: "it \"failed\"\n".to_owned() },
        ..Span::default()
    });
}

/// A raw span with status `Ok`, a remote parent and a tracestate, and a Tracecast span below it.
fn below_another_process() {
    let parent = RawContext::new().with_remote_span_context(elsewhere(true, true));
    let watch = Watch::new();
    // No version, no attributes: most libraries have none.
    let tracer = global::tracer("bare library");
    let mut span =
        tracer.span_builder("raw below remote").with_kind(SpanKind::Server).start_with_context(&tracer, &parent);
    is(watch, span.span_context(), "raw below remote", "server");
    watch.with(|made| {
        made.scope = Scope { name: "bare library".to_owned(), ..Scope::default() };
        made.parent_span_id = elsewhere(true, true).span_id().to_string();
        made.parent_is_remote = true;
        made.trace_state = STATE.to_owned();
        made.status.code = "ok";
    });
    span.set_status(RawStatus::Ok);
    watch.ending();
    span.end();
    watch.over();
}

struct Instruments {
    bytes: Counter<u64>,
    spent: Counter<f64>,
    active: UpDownCounter<i64>,
    degrees: Gauge<f64>,
    large: Gauge<u64>,
    latency: Histogram<f64>,
}

const BYTES: [&[u64]; 2] = [&[5, 7], &[1]];
const SPENT: [&[f64]; 2] = [&[0.5], &[0.25]];
const ACTIVE: [&[i64]; 2] = [&[3, -5], &[1]];
const DEGREES: [&[f64]; 2] = [&[20.0, -3.5], &[0.0]];
const SECONDS: [&[f64]; 2] = [&[0.125, 0.25, 3.0], &[0.375]];
const LARGE: [u64; 2] = [i64::MAX as u64, i64::MAX as u64 + 1];
/// The value of the observed counter.
const SEEN: [u64; 2] = [10, 14];

static SEEN_NOW: AtomicU64 = AtomicU64::new(0);

fn instruments() -> &'static Instruments {
    static ALL: OnceLock<Instruments> = OnceLock::new();
    ALL.get_or_init(|| {
        let meter = global::meter_with_scope(scope());
        observe(&meter);
        Instruments {
            bytes: meter.u64_counter("raw.bytes").with_unit("By").with_description("Whole numbers.").build(),
            spent: meter.f64_counter("raw.spent").build(),
            active: meter.i64_up_down_counter("raw.active").with_unit("{call}").build(),
            degrees: meter.f64_gauge("raw.degrees").with_unit("Cel").build(),
            large: meter.u64_gauge("raw.large").build(),
            latency: meter.f64_histogram("raw.latency").with_unit("s").with_boundaries(vec![0.25, 1.0]).build(),
        }
    })
}

fn observe(meter: &Meter) {
    let seen = |observer: &dyn opentelemetry::metrics::AsyncInstrument<u64>| {
        observer.observe(SEEN_NOW.load(Relaxed), &[KeyValue::new("raw.flag", true)]);
    };
    let _counter = meter.u64_observable_counter("raw.seen").with_callback(seen).build();
    let depth = |observer: &dyn opentelemetry::metrics::AsyncInstrument<i64>| {
        observer.observe(-(SEEN_NOW.load(Relaxed) as i64), &[]);
    };
    let _up_down = meter.i64_observable_up_down_counter("raw.depth").with_callback(depth).build();
    let share = |observer: &dyn opentelemetry::metrics::AsyncInstrument<f64>| {
        observer.observe(SEEN_NOW.load(Relaxed) as f64 / 4.0, &[]);
    };
    let _gauge = meter.f64_observable_gauge("raw.share").with_callback(share).build();
}

/// Attributes of every type.
fn labels() -> [KeyValue; 5] {
    [
        KeyValue::new("raw.text", "ü"),
        KeyValue::new("raw.int", -1),
        KeyValue::new("raw.double", 0.5),
        KeyValue::new("raw.flag", false),
        KeyValue::new("raw.texts", texts(&["a", "b"])),
    ]
}

pub(crate) fn measure(round: usize) {
    let all = instruments();
    BYTES[round].iter().for_each(|amount| all.bytes.add(*amount, &labels()));
    SPENT[round].iter().for_each(|amount| all.spent.add(*amount, &[]));
    ACTIVE[round].iter().for_each(|amount| all.active.add(*amount, &[]));
    DEGREES[round].iter().for_each(|value| all.degrees.record(*value, &[]));
    all.large.record(LARGE[round], &[]);
    SECONDS[round].iter().for_each(|value| all.latency.record(*value, &[]));
    SEEN_NOW.store(SEEN[round], Relaxed);
}

fn fractions(rounds: [&[f64]; 2]) -> Point {
    let rounds = rounds.map(|values| values.iter().map(|value| double(*value)).collect());
    Point { rounds, ..Point::default() }
}

fn whole<T: Copy + Into<i64>>(rounds: [&[T]; 2]) -> Point {
    let rounds = rounds.map(|values| values.iter().map(|value| int((*value).into())).collect());
    Point { rounds, ..Point::default() }
}

fn metric(name: &str, form: &'static str, unit: &str, point: Point) -> Metric {
    Metric {
        scope: made_scope(),
        name: name.to_owned(),
        unit: unit.to_owned(),
        description: String::new(),
        form,
        monotonic: false,
        always_cumulative: false,
        bounds: None,
        points: vec![point],
    }
}

/// Says what was measured.
pub(crate) fn describe() {
    let labelled = attributes([
        ("raw.text", text("ü")),
        ("raw.int", int(-1)),
        ("raw.double", double(0.5)),
        ("raw.flag", flag(false)),
        ("raw.texts", array([text("a"), text("b")])),
    ]);
    let bytes = BYTES.map(|amounts| amounts.iter().map(|amount| int(*amount as i64)).collect());
    let bytes = Point { attributes: labelled, rounds: bytes };
    let [first, second] = SEEN.map(|seen| seen as i64);
    // The increase.
    let seen = Point { attributes: attributes([("raw.flag", flag(true))]), ..whole([&[first], &[second - first]]) };
    // A number beyond OTLP's integers is exported as a double.
    let large = Point { rounds: [vec![int(i64::MAX)], vec![double(LARGE[1] as f64)]], ..Point::default() };
    let shares = SEEN.map(|seen| [seen as f64 / 4.0]);
    made().metrics.extend([
        Metric { monotonic: true, description: "Whole numbers.".into(), ..metric("raw.bytes", "sum", "By", bytes) },
        Metric { monotonic: true, ..metric("raw.spent", "sum", "", fractions(SPENT)) },
        Metric { always_cumulative: true, ..metric("raw.active", "sum", "{call}", whole(ACTIVE)) },
        metric("raw.degrees", "gauge", "Cel", fractions(DEGREES)),
        metric("raw.large", "gauge", "", large),
        Metric { bounds: Some(vec![0.25, 1.0]), ..metric("raw.latency", "histogram", "s", fractions(SECONDS)) },
        Metric { monotonic: true, ..metric("raw.seen", "sum", "", seen) },
        Metric { always_cumulative: true, ..metric("raw.depth", "sum", "", whole([&[-first], &[first - second]])) },
        metric("raw.share", "gauge", "", fractions([&shares[0], &shares[1]])),
    ]);
}
