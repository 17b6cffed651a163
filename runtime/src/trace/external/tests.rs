//! External spans: limits, the queue, and how an independent decoder reads them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{ScopeSpans, Span, Status, span};
use prost::Message;

use super::*;
use crate::declare::callsite::Kind;
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::encode::json;
use crate::encode::resource::EncodedResource;
use crate::encode::trace::TraceBatch;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Status as GivenStatus};
use crate::record::ids::{SpanId, TraceId};

/// A generator of random spans, which yields the same sequence in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A time that all systems can represent: `SystemTime` on Windows counts units of 100 ns.
    pub(crate) fn unix_nanos(&mut self) -> u64 {
        (self.next() >> 2) / 100 * 100
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn text(&mut self) -> String {
        let len = [0, 3, 20, 130, 300, 20_000][self.below(6) as usize] / if self.one_in(4) { 1 } else { 10 };
        let letters = ['a', 'ü', '\n', '"', '\\', '\u{1}', '😀', '7', ' ', '\0'];
        (0..len).map(|_| letters[self.below(10) as usize]).collect()
    }

    fn double(&mut self) -> f64 {
        Some(f64::from_bits(self.next())).filter(|number| number.is_finite()).unwrap_or(0.5)
    }

    fn several<T>(&mut self, mut make: impl FnMut(&mut Random) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| make(self)).collect()
    }

    fn value(&mut self) -> OwnedValue {
        match self.below(8) {
            0 => OwnedValue::from(self.text()),
            1 => OwnedValue::I64(self.next() as i64),
            2 => OwnedValue::F64(self.double()),
            3 => OwnedValue::Bool(self.one_in(2)),
            4 => OwnedValue::StrArray(self.several(Random::text)),
            5 => OwnedValue::I64Array(self.several(|random| random.next() as i64)),
            6 => OwnedValue::F64Array(self.several(Random::double)),
            _ => OwnedValue::BoolArray(self.several(|random| random.one_in(2))),
        }
    }

    /// Attributes with distinct names.
    fn attributes(&mut self) -> Vec<Attribute> {
        let values = self.several(Random::value);
        values
            .into_iter()
            .enumerate()
            .map(|(at, value)| Attribute { key: Cow::Owned(format!("key.{at}")), value })
            .collect()
    }

    fn trace_state(&mut self) -> String {
        if self.one_in(2) { String::new() } else { format!("vendor=v{},other=x", self.below(9)) }
    }

    fn event(&mut self) -> Event {
        Event {
            name: Cow::Owned(self.text()),
            unix_nanos: self.unix_nanos(),
            attributes: self.attributes(),
            dropped_attributes: self.below(3) as u32,
        }
    }

    fn link(&mut self) -> Link {
        Link {
            trace_id: TraceId(u128::from(self.next()) << 64 | 1),
            span_id: SpanId(self.next() | 1),
            sampled: self.one_in(2),
            is_remote: Some(self.one_in(2)),
            trace_state: self.trace_state(),
            attributes: self.attributes(),
            dropped_attributes: self.below(3) as u32,
        }
    }

    pub(crate) fn span(&mut self, scopes: &[Arc<ExternalScope>]) -> FinishedSpan {
        let kinds = [Kind::Internal, Kind::Server, Kind::Client, Kind::Producer, Kind::Consumer];
        let statuses = [GivenStatus::Unset, GivenStatus::Ok, GivenStatus::Error(Cow::Owned(self.text()))];
        let scope = scopes[self.below(scopes.len() as u64) as usize].clone();
        FinishedSpan {
            scope: Some(scope),
            trace_id: TraceId(u128::from(self.next()) << 64 | u128::from(self.next()) | 1),
            span_id: SpanId(self.next() | 1),
            parent_span_id: self.one_in(2).then(|| SpanId(self.next() | 1)),
            parent_is_remote: self.one_in(2),
            trace_state: self.trace_state(),
            start_unix_nanos: self.unix_nanos(),
            duration: Duration::from_nanos(self.unix_nanos()),
            status: statuses[self.below(3) as usize].clone(),
            attributes: self.attributes(),
            events: self.several(Random::event),
            links: self.several(Random::link),
            dropped_attributes: self.below(3) as u32,
            dropped_events: self.below(3) as u32,
            dropped_links: self.below(300) as u32,
            ..FinishedSpan::new(Cow::Owned(self.text()), kinds[self.below(5) as usize])
        }
    }
}

pub(crate) fn scopes() -> Vec<Arc<ExternalScope>> {
    let full = ExternalScope {
        name: "full".into(),
        version: Some("1.2".into()),
        schema_url: Some("https://example.org/schema".into()),
        attributes: vec![("of.scope".into(), OwnedValue::StrArray(vec!["a".into(), String::new()]))],
    };
    let bare = ExternalScope { name: "bare".into(), ..ExternalScope::default() };
    // An equal scope at another address.
    vec![Arc::new(full.clone()), Arc::new(bare), Arc::new(full)]
}

fn any(value: &OwnedValue) -> AnyValue {
    use any_value::Value::{ArrayValue as Array, BoolValue, DoubleValue, IntValue, StringValue};
    let one = |value| AnyValue { value: Some(value) };
    let array =
        |values: Vec<any_value::Value>| one(Array(ArrayValue { values: values.into_iter().map(one).collect() }));
    match value {
        OwnedValue::Str(text) => one(StringValue(text.to_string())),
        OwnedValue::I64(number) => one(IntValue(*number)),
        OwnedValue::U64(number) => one(IntValue(i64::try_from(*number).expect("a number that fits"))),
        OwnedValue::F64(number) => one(DoubleValue(*number)),
        OwnedValue::Bool(flag) => one(BoolValue(*flag)),
        OwnedValue::StrArray(texts) => array(texts.iter().cloned().map(StringValue).collect()),
        OwnedValue::I64Array(numbers) => array(numbers.iter().copied().map(IntValue).collect()),
        OwnedValue::F64Array(numbers) => array(numbers.iter().copied().map(DoubleValue).collect()),
        OwnedValue::BoolArray(flags) => array(flags.iter().copied().map(BoolValue).collect()),
    }
}

fn key_value(key: &str, value: &OwnedValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(any(value)), ..KeyValue::default() }
}

fn key_values(attributes: &[Attribute]) -> Vec<KeyValue> {
    attributes.iter().map(|attribute| key_value(&attribute.key, &attribute.value)).collect()
}

/// Returns the OTLP span expected for `given`, built without our encoder.
fn expected(given: &FinishedSpan) -> Span {
    let event = |event: &Event| span::Event {
        time_unix_nano: event.unix_nanos,
        name: event.name.to_string(),
        attributes: key_values(&event.attributes),
        dropped_attributes_count: event.dropped_attributes,
    };
    let link = |link: &Link| span::Link {
        trace_id: link.trace_id.0.to_be_bytes().to_vec(),
        span_id: link.span_id.0.to_be_bytes().to_vec(),
        trace_state: link.trace_state.clone(),
        attributes: key_values(&link.attributes),
        dropped_attributes_count: link.dropped_attributes,
        flags: 0x100 | u32::from(link.sampled) | u32::from(link.is_remote == Some(true)) << 9,
    };
    Span {
        trace_id: given.trace_id.0.to_be_bytes().to_vec(),
        span_id: given.span_id.0.to_be_bytes().to_vec(),
        trace_state: given.trace_state.clone(),
        parent_span_id: given.parent_span_id.map_or(Vec::new(), |id| id.0.to_be_bytes().to_vec()),
        flags: if given.parent_is_remote { 0x301 } else { 0x101 },
        name: given.name.to_string(),
        kind: [1, 2, 3, 4, 5][given.kind as usize],
        start_time_unix_nano: given.start_unix_nanos,
        end_time_unix_nano: given.start_unix_nanos + given.duration.as_nanos() as u64,
        attributes: key_values(&given.attributes),
        dropped_attributes_count: given.dropped_attributes,
        events: given.events.iter().map(event).collect(),
        dropped_events_count: given.dropped_events,
        links: given.links.iter().map(link).collect(),
        dropped_links_count: given.dropped_links,
        status: match &given.status {
            GivenStatus::Unset => None,
            GivenStatus::Ok => Some(Status { message: String::new(), code: 1 }),
            GivenStatus::Error(text) => Some(Status { message: text.to_string(), code: 2 }),
        },
    }
}

fn expected_scopes(spans: &[FinishedSpan]) -> Vec<ScopeSpans> {
    let mut scopes: Vec<ScopeSpans> = Vec::new();
    for given in spans {
        let of = given.scope.as_ref().expect("a scope");
        let scope = InstrumentationScope {
            name: of.name.clone(),
            version: of.version.clone().unwrap_or_default(),
            attributes: of.attributes.iter().map(|(key, value)| key_value(key, value)).collect(),
            dropped_attributes_count: 0,
        };
        let schema_url = of.schema_url.clone().unwrap_or_default();
        let known = scopes.iter_mut().find(|known| known.scope.as_ref() == Some(&scope));
        match known {
            Some(known) => known.spans.push(expected(given)),
            None => scopes.push(ScopeSpans { scope: Some(scope), schema_url, spans: vec![expected(given)] }),
        }
    }
    scopes
}

/// Returns the scopes of a request that contains no spans of our own.
pub(crate) fn other_scopes(request: ExportTraceServiceRequest) -> Vec<ScopeSpans> {
    let [resource] = <[_; 1]>::try_from(request.resource_spans).expect("one resource");
    assert_eq!(resource.resource.expect("a resource").attributes.len(), 1);
    resource.scope_spans
}

fn resource() -> EncodedResource {
    EncodedResource::new(&[("service.name".to_owned(), "foreign".into())])
}

#[test]
fn thousands_of_random_spans_are_read_as_they_were() {
    let (mut random, scopes, resource) = (Random(7), scopes(), resource());
    let mut batch = TraceBatch::new(&resource);
    for round in 0..40 {
        let spans: Vec<_> = (0..50).map(|_| random.span(&scopes)).collect();
        let before = batch.bytes();
        spans.iter().for_each(|span| batch.finished(span));
        assert!(batch.len() == spans.len() && batch.bytes() > before + 50 * 40);
        let expected = expected_scopes(&spans);
        let bytes = batch.take(Vec::new());
        assert!(batch.is_empty());
        let read = other_scopes(ExportTraceServiceRequest::decode(&bytes[..]).expect("protocol buffers"));
        assert_eq!(read, expected, "round {round}");
        let json = json::trace_request(&resource, &spans);
        let read = other_scopes(serde_json::from_slice(&json).expect("JSON"));
        assert_eq!(read, expected, "round {round}");
    }
}

#[test]
fn a_request_without_spans_has_no_scope() {
    let bytes = TraceBatch::new(&resource()).take(Vec::new());
    assert_eq!(other_scopes(ExportTraceServiceRequest::decode(&bytes[..]).unwrap()), []);
}

#[test]
fn a_name_stands_once_and_limits_are_counted() {
    let mut span = FinishedSpan::new("limits".into(), Kind::Internal);
    for at in 0..130 {
        span.set(Attribute { key: Cow::Owned(format!("key.{at}")), value: OwnedValue::I64(at) });
        span.event(Event { name: "e".into(), unix_nanos: 0, attributes: Vec::new(), dropped_attributes: 0 });
    }
    span.set(Attribute { key: "key.0".into(), value: OwnedValue::from("é".repeat(4_000)) });
    assert_eq!((span.attributes.len(), span.dropped_attributes), (128, 2));
    assert_eq!((span.events.len(), span.dropped_events), (128, 2));
    let OwnedValue::Str(text) = &span.attributes[0].value else { panic!("{:?}", span.attributes[0]) };
    assert_eq!(text.len(), 4096);
}

#[test]
fn ok_is_final_and_unset_says_nothing() {
    let error = |text: &'static str| GivenStatus::Error(text.into());
    let check = |steps: &[GivenStatus], expected: GivenStatus| {
        let mut span = FinishedSpan::new("status".into(), Kind::Internal);
        steps.iter().for_each(|step| span.set_status(step.clone()));
        assert_eq!(span.status, expected, "{steps:?}");
    };
    check(&[], GivenStatus::Unset);
    check(&[error("a"), GivenStatus::Unset], error("a"));
    check(&[error("a"), error("b")], error("b"));
    check(&[error("a"), GivenStatus::Ok], GivenStatus::Ok);
    check(&[GivenStatus::Ok, error("a"), GivenStatus::Unset], GivenStatus::Ok);
}

#[test]
fn every_text_can_be_changed() {
    let mut span = Random(3).span(&scopes());
    span.status = GivenStatus::Error("secret".into());
    span.attributes = vec![
        Attribute { key: "one".into(), value: OwnedValue::from("secret") },
        Attribute { key: "many".into(), value: OwnedValue::StrArray(vec!["secret".into(), "not".into()]) },
    ];
    span.events = vec![Event { attributes: span.attributes.clone(), ..Random(4).event() }];
    span.links = vec![Link { attributes: span.attributes.clone(), ..Random(4).link() }];
    span.name = "secret".into();
    span.change_texts(&|_, text| (text == "secret").then(|| "***".to_owned()));
    assert!(!format!("{span:?}").contains("secret"), "{span:?}");
    assert!(format!("{span:?}").contains("not"), "{span:?}");
}

/// Serializes the tests: a process has one queue.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_span_that_ended_before_it_started_took_no_time() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    start(1 << 20);
    for end in [5, 9] {
        let mut span = FinishedSpan::new("backwards".into(), Kind::Internal);
        span.start_unix_nanos = 7;
        ended(span, end);
    }
    let mut ends = Vec::new();
    take(|span| ends.push(span.end_unix_nanos()));
    stop();
    assert_eq!(ends, [7, 9]);
}

#[test]
fn a_full_queue_drops_and_counts() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let span = || FinishedSpan::new("x".repeat(1_000).into(), Kind::Internal);
    ended(span(), 0);
    start(span().bytes() * 3);
    assert_eq!(counts(), Counts::default());
    (0..5).for_each(|_| ended(span(), 0));
    assert_eq!(counts(), Counts { ended: 5, dropped: 2, waiting: 3 });
    let mut taken = 0;
    take(|_| taken += 1);
    assert_eq!((taken, counts().waiting), (3, 0));
    // Taking spans frees their space.
    ended(span(), 0);
    stop();
    ended(span(), 0);
    assert_eq!(counts(), Counts { ended: 6, dropped: 2, waiting: 1 });
    take(drop);
}
