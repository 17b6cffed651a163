//! What is sent of spans is read back by a decoder of others, field by field: from records, from plain data, as JSON.

use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span as Decoded, Status, span};
use prost::Message;
use tracecast::__bench::Encoder;
use tracecast::prelude::*;
use tracecast::testing::{Attribute, FinishedSpan, Limits, Recording, RecordingConfig};
use tracecast::{Context, Kind, Outcome, OwnedValue, Span, SpanId, Static, TraceId};

use crate::kit::{Random, key_value};
use crate::turn::{start_recording, turn};

#[derive(Clone, Copy, TcLabel)]
pub(crate) enum Tier {
    Gold,
    Silver,
}

mod keys {
    tracecast::tc_keys! {
        pub(crate) id text: str = "t.text";
        pub(crate) id fixed: str = "t.fixed";
        pub(crate) id error_like: str = "error.message";
        pub(crate) measure count: u64 = "t.count";
        pub(crate) measure signed: i64 = "t.signed";
        pub(crate) measure ratio: f64 = "t.ratio";
        pub(crate) id flag: bool = "t.flag";
        pub(crate) label on: bool = "t.on";
        pub(crate) label tier: super::Tier = "t.tier";
        pub(crate) label maybe: Option<super::Tier> = "t.maybe";
        pub(crate) label slot: Index<4> = "t.slot";
        pub(crate) label tenant: Interned<3> = "t.tenant";
        pub(crate) id texts: [str] = "t.texts";
        pub(crate) id numbers: [i64] = "t.numbers";
        pub(crate) measure sizes: [u64] = "t.sizes";
        pub(crate) measure ratios: [f64] = "t.ratios";
        pub(crate) id flags: [bool] = "t.flags";
        pub(crate) id outcome: str = "tc.outcome";
        pub(crate) id long_name: str = "t.a.name.that.is.longer.than.others.so.that.the.length.of.the.attribute.needs.two.bytes.whatever.its.value.may.be.and.then.some";
    }
}

fn recording(limits: impl FnOnce(&mut Limits)) -> Recording {
    start_recording(RecordingConfig::default().with_limits(limits))
}

/// Of a text.
const LONGEST: usize = 3_000;

impl Random {
    fn context(&mut self) -> Context {
        let trace_id = u128::from(self.next()) << 64 | u128::from(self.next());
        Context::remote(TraceId(trace_id), SpanId(self.next() | 1), self.one_in(2))
    }

    fn sampled_context(&mut self) -> Context {
        let context = self.context();
        let context = Context::remote(context.trace_id(), context.span_id(), true);
        if self.one_in(2) {
            return context;
        }
        let (trace_id, span_id) = (context.trace_id(), context.span_id());
        let headers =
            [("traceparent", format!("00-{trace_id}-{span_id}-01")), ("tracestate", "vendor=1,b=2".to_owned())];
        tracecast::propagation::extract(&headers.map(|(name, value)| (name.to_owned(), value)).to_vec())
    }
}

/// Sets a random attribute by `set!(key, value)`, which spans and events both have.
macro_rules! attribute {
    ($random:ident, $set:expr) => {{
        let set = $set;
        match $random.below(19) {
            0 => set.set(keys::text, $random.text(LONGEST)),
            1 => set.set(keys::fixed, Static("fixed")),
            2 => set.set(keys::count, $random.number()),
            3 => set.set(keys::signed, ($random.number() as i64).wrapping_neg()),
            4 => set.set(keys::ratio, $random.double()),
            5 => set.set(keys::flag, $random.one_in(2)),
            6 => set.set(keys::on, $random.one_in(2)),
            7 => set.set(keys::tier, if $random.one_in(2) { Tier::Gold } else { Tier::Silver }),
            8 => set.set(keys::maybe, $random.one_in(2).then_some(Tier::Silver)),
            9 => set.set(keys::slot, $random.below(6)),
            10 => set.set(keys::tenant, ["a", "b", "c", "d"][$random.below(4) as usize]),
            11 => set.set(keys::long_name, $random.text(LONGEST)),
            12 => set.set(keys::error_like, $random.text(LONGEST)),
            13 => set.set(keys::texts, $random.list(|random| random.text(60))),
            14 => set.set(keys::numbers, $random.list(|random| random.next() as i64)),
            15 => set.set(keys::sizes, $random.list(Random::number)),
            16 => set.set(keys::ratios, $random.list(Random::double)),
            17 => set.set(keys::flags, $random.list(|random| random.one_in(2))),
            _ => set.set(keys::text, None::<&str>),
        }
    }};
}

const KINDS: [Kind; 5] = [Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer];
const OUTCOMES: [Outcome; 4] = [Outcome::Ok, Outcome::Error, Outcome::Cancelled, Outcome::Panicked];

/// Makes a span of anything that the API can put on one.
fn make_span(random: &mut Random) {
    let name = format!("Random/Ünit{}", random.below(20));
    let mut builder = Span::builder(&name, KINDS[random.below(5) as usize]);
    if random.one_in(3) {
        builder = builder.with_parent(random.sampled_context());
    }
    let since_epoch = Duration::from_nanos(random.number());
    let has_times = random.one_in(4);
    if has_times {
        builder = builder.with_start(SystemTime::UNIX_EPOCH + since_epoch.min(Duration::from_secs(1 << 31)));
    }
    let links: Vec<_> = (0..random.below(4)).map(|_| random.context()).collect();
    let mut span = builder.with_links(links).start();
    for _ in 0..random.below(12) {
        match random.below(6) {
            0 => span.in_scope(|| {
                tracecast::current().event_with("with attributes", |event| {
                    (0..random.below(5)).for_each(|_| attribute!(random, &mut *event));
                });
            }),
            1 => span.event("plain"),
            2 => span.link(random.context()),
            _ => attribute!(random, &mut span),
        }
    }
    if random.one_in(8) {
        span.error(&random.text(LONGEST));
    }
    if random.one_in(20) {
        span.set(keys::outcome, "the user's own");
    }
    if has_times && random.one_in(2) {
        span.end_at(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 32));
    } else {
        span.end_with(OUTCOMES[random.below(4) as usize]);
    }
}

#[tc_span("Random/Twice", attrs(keys::text = first, keys::count = 1_u64, keys::signed = -1_i64),
          result(keys::text = |text| text.as_str(), keys::signed = |_| i64::MIN))]
fn a_key_twice(first: &str, second: &str) -> String {
    tracecast::current().event("between");
    second.to_owned()
}

#[tc_span("Random/Shared", share(keys::tenant = "shared", keys::text = "from above", keys::count = u64::MAX))]
fn below_a_share(random: &mut Random) {
    (0..3).for_each(|_| make_span(random));
    a_key_twice("a", &random.text(LONGEST));
    named_at_run_time(&format!("table{}", random.below(5)));
}

#[tc_span(db(system = "sqlite", collection = table, operation = "select"))]
fn named_at_run_time(table: &str) {
    tracecast::current().event(if table.is_empty() { "no table" } else { "table" });
}

/// What OTLP says of a span, by hand and from nothing but its plain data.
fn expected(span: &FinishedSpan) -> Decoded {
    let mut attributes = key_values(&span.attributes);
    if span.outcome == Outcome::Cancelled && span.attribute("tc.outcome").is_none() {
        attributes.push(key_value("tc.outcome", &"cancelled".into()));
    }
    let status = matches!(span.outcome, Outcome::Error | Outcome::Panicked).then(|| {
        let otherwise = if span.outcome == Outcome::Panicked { "panicked" } else { "" };
        let message = span.attribute("error.message").map_or(otherwise.to_owned(), ToString::to_string);
        Status { message, code: 2 }
    });
    Decoded {
        trace_id: span.trace_id.0.to_be_bytes().to_vec(),
        span_id: span.span_id.0.to_be_bytes().to_vec(),
        trace_state: span.trace_state.clone(),
        parent_span_id: span.parent_span_id.map_or(Vec::new(), |id| id.0.to_be_bytes().to_vec()),
        flags: if span.parent_is_remote { 0x301 } else { 0x101 },
        name: span.name.to_string(),
        kind: match span.kind {
            Kind::Internal => span::SpanKind::Internal,
            Kind::Server => span::SpanKind::Server,
            Kind::Client => span::SpanKind::Client,
            Kind::Producer => span::SpanKind::Producer,
            Kind::Consumer => span::SpanKind::Consumer,
            other => panic!("{other:?} is new"),
        } as i32,
        start_time_unix_nano: span.start_unix_nanos,
        end_time_unix_nano: span.start_unix_nanos + span.duration.as_nanos() as u64,
        attributes,
        dropped_attributes_count: span.dropped_attributes,
        events: span.events.iter().map(expected_event).collect(),
        dropped_events_count: span.dropped_events,
        links: span.links.iter().map(expected_link).collect(),
        dropped_links_count: span.dropped_links,
        status,
    }
}

fn expected_event(event: &tracecast::testing::Event) -> span::Event {
    span::Event {
        time_unix_nano: event.unix_nanos,
        name: event.name.to_string(),
        attributes: key_values(&event.attributes),
        dropped_attributes_count: 0,
    }
}

fn expected_link(link: &tracecast::testing::Link) -> span::Link {
    span::Link {
        trace_id: link.trace_id.0.to_be_bytes().to_vec(),
        span_id: link.span_id.0.to_be_bytes().to_vec(),
        flags: u32::from(link.sampled),
        ..span::Link::default()
    }
}

fn key_values(attributes: &[Attribute]) -> Vec<KeyValue> {
    attributes.iter().map(|attribute| key_value(&attribute.key, &attribute.value)).collect()
}

/// The spans of a request, which has our resource and our scope.
fn spans_of(request: ExportTraceServiceRequest) -> Vec<Decoded> {
    let [resource] = <[_; 1]>::try_from(request.resource_spans).expect("one resource");
    assert_eq!(resource.schema_url, "https://opentelemetry.io/schemas/1.42.0");
    let attributes = resource.resource.expect("a resource").attributes;
    let names: Vec<_> = attributes.iter().map(|attribute| attribute.key.as_str()).collect();
    assert_eq!(names, ["service.name", "process.pid", "process.command_args"]);
    let [scope] = <[_; 1]>::try_from(resource.scope_spans).expect("one scope");
    let (name, version) = scope.scope.map(|scope| (scope.name, scope.version)).expect("a scope");
    assert_eq!((name.as_str(), version.as_str()), ("tracecast", env!("CARGO_PKG_VERSION")));
    scope.spans
}

fn decoded(request: &[u8]) -> Vec<Decoded> {
    spans_of(ExportTraceServiceRequest::decode(request).expect("protocol buffers"))
}

fn decoded_json(request: &[u8]) -> Vec<Decoded> {
    spans_of(serde_json::from_slice(request).expect("JSON"))
}

/// Compares all three ways, and says how many spans there were.
fn check(encoder: &mut Encoder) -> usize {
    let finished = encoder.drain_both();
    assert_eq!(encoder.spans(), finished.len());
    compare(&encoder.take(Vec::new()), encoder, &finished)
}

fn compare(from_records: &[u8], encoder: &Encoder, finished: &[FinishedSpan]) -> usize {
    let expected: Vec<_> = finished.iter().map(expected).collect();
    let ways = [
        ("records", decoded(from_records)),
        ("plain data", decoded(&encoder.finished(finished))),
        ("JSON", decoded_json(&encoder.finished_json(finished))),
    ];
    for (way, decoded) in ways {
        assert_eq!(decoded.len(), expected.len(), "{way}");
        for (decoded, expected) in decoded.iter().zip(&expected) {
            assert_eq!(decoded, expected, "{way}");
        }
    }
    expected.len()
}

#[test]
fn thousands_of_random_spans_are_the_same_each_way() {
    let _turn = turn();
    let tight = |limits: &mut Limits| {
        (limits.attributes, limits.events, limits.links) = (3, 1, 1);
        (limits.attributes_per_event, limits.value_bytes) = (2, 50);
    };
    let (mut random, mut encoder, mut spans) = (Random(20_26), Encoder::new("random"), 0);
    for round in 0..20 {
        let _recording = recording(|limits| {
            if round % 4 == 3 {
                tight(limits);
            }
        });
        (0..150).for_each(|_| make_span(&mut random));
        (0..10).for_each(|_| below_a_share(&mut random));
        spans += check(&mut encoder);
    }
    // Those that were made, those that share, and those below them.
    assert_eq!(spans, 20 * (150 + 10 + 10 * (3 + 2)));
}

#[test]
fn redacted_spans_are_the_same_each_way() {
    let _turn = turn();
    let hook = |name: &str, text: &str| match name {
        "name" => text.contains('1').then(|| "a name that stands instead of another".to_owned()),
        "t.tier" | "t.tenant" => text.contains(['l', 'a']).then(|| format!("[{text}]")),
        "t.fixed" => Some(String::new()),
        "t.on" | "t.flag" => panic!("a flag is no text"),
        _ => text.contains('a').then(|| text.replace('a', "*******")),
    };
    let (mut random, mut encoder) = (Random(7), Encoder::new("redacted").with_redaction(hook));
    for _ in 0..10 {
        let _recording = recording(|_| ());
        (0..150).for_each(|_| make_span(&mut random));
        (0..10).for_each(|_| below_a_share(&mut random));
        let finished = encoder.drain_both();
        let texts = finished.iter().flat_map(|span| &span.attributes).map(|attribute| attribute.value.to_string());
        assert!(texts.filter(|text| text == "[a]" || text == "[gold]").count() > 10);
        assert!(finished.iter().any(|span| span.name.starts_with("a name that")));
        compare(&encoder.take(Vec::new()), &encoder, &finished);
    }
}

#[test]
fn a_key_that_was_given_twice_stands_once() {
    let _turn = turn();
    let _recording = recording(|_| ());
    let mut encoder = Encoder::new("twice");
    let pairs = [("short", "a much longer text than it was"), ("a much longer text than it will be", ""), ("a", "b")];
    pairs.iter().for_each(|(first, second)| drop(a_key_twice(first, second)));
    assert_eq!(check(&mut encoder), 3);
    pairs.iter().for_each(|(first, second)| drop(a_key_twice(first, second)));
    encoder.drain();
    for (span, (_, second)) in decoded(&encoder.take(Vec::new())).iter().zip(pairs) {
        let expected = [
            key_value("t.text", &second.into()),
            key_value("t.count", &OwnedValue::I64(1)),
            key_value("t.signed", &OwnedValue::I64(i64::MIN)),
        ];
        assert_eq!(span.attributes, expected);
    }
}

#[test]
fn a_span_larger_than_was_thought_is_whole() {
    let _turn = turn();
    let _recording = recording(|limits| limits.value_bytes = u32::MAX);
    let mut encoder = Encoder::new("large");
    static LARGE: [u8; 40_000] = [b'x'; 40_000];
    let text = std::str::from_utf8(&LARGE).unwrap();
    let mut span = Span::builder("Large/Span", Kind::Internal).start();
    span.set(keys::fixed, Static(text));
    span.in_scope(|| tracecast::current().event_with("large", |event| event.set(keys::fixed, Static(text))));
    span.set(keys::count, 1_u64);
    span.set(keys::error_like, Static(text));
    span.end_with(Outcome::Error);
    Span::builder("Large/Next", Kind::Internal).start().end();
    assert_eq!(check(&mut encoder), 2);
}

#[test]
fn what_is_no_number_goes_as_text_in_json() {
    let _turn = turn();
    let _recording = recording(|_| ());
    let mut encoder = Encoder::new("no number");
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut span = Span::builder("Json/Number", Kind::Internal).start();
        span.set(keys::ratio, number);
    }
    let finished = encoder.drain_both();
    let bits = |span: &Decoded| match span.attributes[0].value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(decoded(&encoder.take(Vec::new())).iter().map(bits).collect::<Vec<_>>(), ["NaN", "inf", "-inf"]);
    let json: serde_json::Value = serde_json::from_slice(&encoder.finished_json(&finished)).unwrap();
    let spans = json.pointer("/resourceSpans/0/scopeSpans/0/spans").unwrap().as_array().unwrap();
    let written: Vec<_> = spans.iter().map(|span| span.pointer("/attributes/0/value/doubleValue").unwrap()).collect();
    assert_eq!(written, ["NaN", "Infinity", "-Infinity"]);
}

#[test]
fn json_names_and_forms_are_those_of_the_specification() {
    let _turn = turn();
    let _recording = recording(|_| ());
    let mut encoder = Encoder::new("forms");
    let parent = Context::remote(TraceId(0xabc), SpanId(0xde), true);
    let start = SystemTime::UNIX_EPOCH + Duration::from_nanos(500);
    let mut span = Span::builder("Json/Forms", Kind::Client).with_parent(&parent).with_start(start).start();
    span.set(keys::count, 7_u64);
    span.set(keys::error_like, "lost");
    span.link(&parent);
    span.end_with(Outcome::Error);
    let mut finished = encoder.drain_both();
    (finished[0].span_id, finished[0].duration) = (SpanId(0xf), Duration::from_nanos(2));
    let json: serde_json::Value = serde_json::from_slice(&encoder.finished_json(&finished)).unwrap();
    let expected = serde_json::json!({
        "traceId": "00000000000000000000000000000abc", "spanId": "000000000000000f", "parentSpanId": "00000000000000de",
        "flags": 0x301, "name": "Json/Forms", "kind": 3, "startTimeUnixNano": "500", "endTimeUnixNano": "502",
        "attributes": [
            {"key": "t.count", "value": {"intValue": "7"}},
            {"key": "error.message", "value": {"stringValue": "lost"}},
        ],
        "droppedAttributesCount": 0, "events": [], "droppedEventsCount": 0,
        "links": [{"traceId": "00000000000000000000000000000abc", "spanId": "00000000000000de", "flags": 1}],
        "droppedLinksCount": 0, "status": {"message": "lost", "code": 2},
    });
    assert_eq!(json["resourceSpans"][0]["scopeSpans"][0]["spans"][0], expected);
}
