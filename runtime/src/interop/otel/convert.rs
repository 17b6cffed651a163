//! Their types and ours.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, SpanId, StringValue, TraceFlags, TraceId, Value};

use crate::declare::callsite::Kind;
use crate::declare::value::OwnedValue;
use crate::record::bridge::Place;
use crate::record::{clock, ids};
use crate::trace::context::Context;
use crate::trace::foreign::{ForeignEvent, ForeignLink, ForeignScope, ForeignStatus, Named};

pub(super) fn span_number(id: SpanId) -> u64 {
    u64::from_be_bytes(id.to_bytes())
}

pub(super) fn trace_number(id: TraceId) -> u128 {
    u128::from_be_bytes(id.to_bytes())
}

/// Of level 2 of Trace Context, which their API has no name for: the trace's id is random.
const RANDOM: TraceFlags = TraceFlags::new(2);

pub(super) fn flags(sampled: bool) -> TraceFlags {
    TraceFlags::NOT_SAMPLED.with_sampled(sampled)
}

/// A context of ours as theirs. Ours know nothing of `tracestate`.
pub(super) fn span_context(context: &Context, trace_state: TraceState) -> SpanContext {
    let (trace_id, span_id) = (TraceId::from(context.trace_id().0), SpanId::from(context.span_id().0));
    let random = if context.is_random() { RANDOM } else { TraceFlags::NOT_SAMPLED };
    SpanContext::new(trace_id, span_id, flags(context.is_sampled()) | random, context.is_remote(), trace_state)
}

pub(super) fn context(theirs: &SpanContext) -> Context {
    let (trace_id, span_id) = (trace_number(theirs.trace_id()), span_number(theirs.span_id()));
    let (sampled, is_random) = (theirs.is_sampled(), theirs.trace_flags() & RANDOM == RANDOM);
    Context::foreign(Place { trace_id, span_id, sampled, is_random, is_remote: theirs.is_remote() })
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

pub(super) fn status(status: Status) -> ForeignStatus {
    match status {
        Status::Unset => ForeignStatus::Unset,
        Status::Ok => ForeignStatus::Ok,
        Status::Error { description } => ForeignStatus::Error(description),
    }
}

pub(super) fn their_status(status: &ForeignStatus) -> Status {
    match status {
        ForeignStatus::Unset => Status::Unset,
        ForeignStatus::Ok => Status::Ok,
        ForeignStatus::Error(text) => Status::Error { description: text.clone() },
    }
}

pub(super) fn unix_nanos(time: SystemTime) -> u64 {
    clock::unix_nanos(time)
}

pub(super) fn time(unix_nanos: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(unix_nanos)
}

pub(super) fn named(attribute: KeyValue) -> Named {
    (Cow::Owned(attribute.key.into()), value(attribute.value))
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
        // Kinds of values that come later are shown as they print.
        other => OwnedValue::from(other.to_string()),
    }
}

pub(super) fn their_attribute((name, value): &Named) -> KeyValue {
    KeyValue::new(name.clone(), their_value(value))
}

pub(super) fn their_value(value: &OwnedValue) -> Value {
    match value {
        OwnedValue::Str(text) => Value::String(text.clone().into()),
        OwnedValue::I64(number) => Value::I64(*number),
        OwnedValue::F64(number) => Value::F64(*number),
        OwnedValue::Bool(flag) => Value::Bool(*flag),
        // A number that they cannot hold is text, as on the wire.
        OwnedValue::U64(number) => i64::try_from(*number).map_or_else(|_| number.to_string().into(), Value::I64),
        OwnedValue::StrArray(texts) => {
            Value::Array(Array::String(texts.iter().cloned().map(StringValue::from).collect()))
        }
        OwnedValue::I64Array(numbers) => Value::Array(Array::I64(numbers.clone())),
        OwnedValue::F64Array(numbers) => Value::Array(Array::F64(numbers.clone())),
        OwnedValue::BoolArray(flags) => Value::Array(Array::Bool(flags.clone())),
    }
}

pub(super) fn event(event: opentelemetry::trace::Event) -> ForeignEvent {
    ForeignEvent {
        name: event.name,
        unix_nanos: unix_nanos(event.timestamp),
        attributes: event.attributes.into_iter().map(named).collect(),
        dropped_attributes: event.dropped_attributes_count,
    }
}

pub(super) fn link(link: opentelemetry::trace::Link) -> ForeignLink {
    let to = &link.span_context;
    ForeignLink {
        trace_id: ids::TraceId(trace_number(to.trace_id())),
        span_id: ids::SpanId(span_number(to.span_id())),
        sampled: to.is_sampled(),
        is_remote: to.is_remote(),
        trace_state: to.trace_state().header(),
        attributes: link.attributes.into_iter().map(named).collect(),
        dropped_attributes: link.dropped_attributes_count,
    }
}

pub(super) fn scope(scope: &InstrumentationScope) -> ForeignScope {
    ForeignScope {
        name: Cow::Owned(scope.name().to_owned()),
        version: scope.version().map(|version| Cow::Owned(version.to_owned())),
        schema_url: scope.schema_url().map(|url| Cow::Owned(url.to_owned())),
        attributes: scope.attributes().cloned().map(named).collect(),
    }
}

pub(super) fn their_scope(scope: &ForeignScope) -> InstrumentationScope {
    let mut builder = InstrumentationScope::builder(scope.name.clone());
    if let Some(version) = &scope.version {
        builder = builder.with_version(version.clone());
    }
    if let Some(url) = &scope.schema_url {
        builder = builder.with_schema_url(url.clone());
    }
    builder.with_attributes(scope.attributes.iter().map(their_attribute)).build()
}
