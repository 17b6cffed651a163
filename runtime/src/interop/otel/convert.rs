//! Converts between OpenTelemetry's types and ours.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{self, SpanContext, SpanKind, Status, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, SpanId, StringValue, TraceFlags, TraceId, Value};

use crate::declare::callsite::Kind;
use crate::declare::scope::ExternalScope;
use crate::declare::value::OwnedValue;
use crate::encode::finished as encode;
use crate::encode::span::STATUS_OK;
use crate::record::bridge::Place;
use crate::record::finished::{self, Attribute, FinishedSpan};
use crate::record::{clock, ids};
use crate::trace::context::Context;

pub(super) fn span_number(id: SpanId) -> u64 {
    u64::from_be_bytes(id.to_bytes())
}

pub(super) fn trace_number(id: TraceId) -> u128 {
    u128::from_be_bytes(id.to_bytes())
}

/// A flag of Trace Context level 2, for which OpenTelemetry's API has no name: the trace id is random.
const RANDOM: TraceFlags = TraceFlags::new(2);

pub(super) fn flags(sampled: bool) -> TraceFlags {
    TraceFlags::NOT_SAMPLED.with_sampled(sampled)
}

/// Converts our context to OpenTelemetry's, with this trace state.
pub(super) fn span_context(context: &Context, trace_state: TraceState) -> SpanContext {
    let (trace_id, span_id) = (TraceId::from(context.trace_id().0), SpanId::from(context.span_id().0));
    let random = if context.is_random() { RANDOM } else { TraceFlags::NOT_SAMPLED };
    SpanContext::new(trace_id, span_id, flags(context.is_sampled()) | random, context.is_remote(), trace_state)
}

pub(super) fn context(theirs: &SpanContext) -> Context {
    let (trace_id, span_id) = (trace_number(theirs.trace_id()), span_number(theirs.span_id()));
    let (sampled, is_random) = (theirs.is_sampled(), theirs.trace_flags() & RANDOM == RANDOM);
    Context::external(Place { trace_id, span_id, sampled, is_random, is_remote: theirs.is_remote() })
}

pub(super) fn kind(kind: &SpanKind) -> Kind {
    match kind {
        SpanKind::Client => Kind::Client,
        SpanKind::Server => Kind::Server,
        SpanKind::Producer => Kind::Producer,
        SpanKind::Consumer => Kind::Consumer,
        SpanKind::Internal => Kind::Internal,
    }
}

pub(super) fn their_kind(kind: Kind) -> SpanKind {
    match kind {
        Kind::Client => SpanKind::Client,
        Kind::Server => SpanKind::Server,
        Kind::Producer => SpanKind::Producer,
        Kind::Consumer => SpanKind::Consumer,
        Kind::Internal => SpanKind::Internal,
    }
}

pub(super) fn status(status: Status) -> finished::Status {
    match status {
        Status::Unset => finished::Status::Unset,
        Status::Ok => finished::Status::Ok,
        Status::Error { description } => finished::Status::Error(description),
    }
}

pub(super) fn their_status(span: &FinishedSpan) -> Status {
    match encode::status(span) {
        None => Status::Unset,
        Some((STATUS_OK, _)) => Status::Ok,
        Some((_, message)) => Status::error(message.to_owned()),
    }
}

pub(super) fn unix_nanos(time: SystemTime) -> u64 {
    clock::unix_nanos(time)
}

pub(super) fn time(unix_nanos: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_nanos)
}

pub(super) fn attribute(attribute: KeyValue) -> Attribute {
    Attribute { key: Cow::Owned(attribute.key.into()), value: value(attribute.value) }
}

pub(super) fn value(value: Value) -> OwnedValue {
    match value {
        Value::Bool(flag) => OwnedValue::Bool(flag),
        Value::I64(number) => OwnedValue::I64(number),
        Value::F64(number) => OwnedValue::F64(number),
        Value::String(text) => OwnedValue::from(String::from(text)),
        Value::Array(Array::Bool(flags)) => OwnedValue::BoolArray(flags),
        Value::Array(Array::I64(numbers)) => OwnedValue::I64Array(numbers),
        Value::Array(Array::F64(numbers)) => OwnedValue::F64Array(numbers),
        Value::Array(Array::String(texts)) => OwnedValue::StrArray(texts.into_iter().map(String::from).collect()),
        // Types that later versions add become text.
        other => OwnedValue::from(other.to_string()),
    }
}

pub(super) fn their_attributes(attributes: &[Attribute]) -> Vec<KeyValue> {
    attributes.iter().map(|given| KeyValue::new(given.key.clone(), their_value(&given.value))).collect()
}

pub(super) fn their_value(value: &OwnedValue) -> Value {
    match value {
        OwnedValue::Str(text) => Value::String(text.clone().into()),
        OwnedValue::I64(number) => Value::I64(*number),
        OwnedValue::F64(number) => Value::F64(*number),
        OwnedValue::Bool(flag) => Value::Bool(*flag),
        // A number that does not fit becomes text, as in OTLP.
        OwnedValue::U64(number) => i64::try_from(*number).map_or_else(|_| number.to_string().into(), Value::I64),
        OwnedValue::StrArray(texts) => {
            Value::Array(Array::String(texts.iter().cloned().map(StringValue::from).collect()))
        }
        OwnedValue::I64Array(numbers) => Value::Array(Array::I64(numbers.clone())),
        OwnedValue::F64Array(numbers) => Value::Array(Array::F64(numbers.clone())),
        OwnedValue::BoolArray(flags) => Value::Array(Array::Bool(flags.clone())),
    }
}

pub(super) fn event(event: trace::Event) -> finished::Event {
    finished::Event {
        name: event.name,
        unix_nanos: unix_nanos(event.timestamp),
        attributes: event.attributes.into_iter().map(attribute).collect(),
        dropped_attributes: event.dropped_attributes_count,
    }
}

pub(super) fn their_event(event: &finished::Event) -> trace::Event {
    let (time, attributes) = (time(event.unix_nanos), their_attributes(&event.attributes));
    trace::Event::new(event.name.clone(), time, attributes, event.dropped_attributes)
}

pub(super) fn link(link: trace::Link) -> finished::Link {
    let to = &link.span_context;
    finished::Link {
        trace_id: ids::TraceId(trace_number(to.trace_id())),
        span_id: ids::SpanId(span_number(to.span_id())),
        sampled: to.is_sampled(),
        is_remote: Some(to.is_remote()),
        trace_state: to.trace_state().header(),
        attributes: link.attributes.into_iter().map(attribute).collect(),
        dropped_attributes: link.dropped_attributes_count,
    }
}

pub(super) fn their_link(link: &finished::Link) -> trace::Link {
    let (trace_id, span_id) = (TraceId::from(link.trace_id.0), SpanId::from(link.span_id.0));
    let is_remote = link.is_remote.unwrap_or_default();
    let to = SpanContext::new(trace_id, span_id, flags(link.sampled), is_remote, their_trace_state(&link.trace_state));
    trace::Link::new(to, their_attributes(&link.attributes), link.dropped_attributes)
}

pub(super) fn their_trace_state(header: &str) -> TraceState {
    header.parse().unwrap_or_default()
}

pub(super) fn scope(scope: &InstrumentationScope) -> ExternalScope {
    let named = |attribute: &KeyValue| (attribute.key.to_string(), value(attribute.value.clone()));
    ExternalScope {
        name: scope.name().to_owned(),
        version: scope.version().map(str::to_owned),
        schema_url: scope.schema_url().map(str::to_owned),
        attributes: scope.attributes().map(named).collect(),
    }
}

pub(super) fn their_scope(scope: &ExternalScope) -> InstrumentationScope {
    let mut builder = InstrumentationScope::builder(scope.name.clone());
    if let Some(version) = &scope.version {
        builder = builder.with_version(version.clone());
    }
    if let Some(url) = &scope.schema_url {
        builder = builder.with_schema_url(url.clone());
    }
    let attributes = scope.attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), their_value(value)));
    builder.with_attributes(attributes).build()
}
