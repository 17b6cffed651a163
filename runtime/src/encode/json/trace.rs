//! Spans as OTLP/JSON.

use super::writer::Json;
use super::{attribute, foreign, own_scope, request_of_scopes};
use crate::declare::value::{OwnedValue, Value};
use crate::encode::resource::EncodedResource;
use crate::encode::span::{Head, MESSAGE_KEY, OUTCOME_KEY, STATUS_ERROR, link_flags, status_message};
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome};
use crate::trace::foreign::ForeignSpan;

/// An `ExportTraceServiceRequest` with these spans: ours, and those that are not.
pub(crate) fn trace_request(resource: &EncodedResource, spans: &[FinishedSpan], others: &[ForeignSpan]) -> Vec<u8> {
    request_of_scopes(resource, ["resourceSpans", "scopeSpans", "spans"], |json| {
        own_scope(json, "spans", |json| spans.iter().for_each(|span| json.object(|json| write_span(json, span))));
        foreign::scopes(json, others);
    })
}

fn write_span(json: &mut Json, span: &FinishedSpan) {
    let head = Head::of(span);
    json.plain("traceId", span.trace_id);
    json.plain("spanId", span.span_id);
    if let Some(parent) = span.parent_span_id {
        json.plain("parentSpanId", parent);
    }
    json.text_unless_empty("traceState", &span.trace_state);
    json.number("flags", head.flags());
    json.text("name", &span.name);
    json.number("kind", head.kind());
    json.long("startTimeUnixNano", head.start);
    json.long("endTimeUnixNano", head.end);
    json.array("attributes", |json| {
        attributes(json, &span.attributes);
        if span.outcome == Outcome::Cancelled && span.attribute(OUTCOME_KEY).is_none() {
            attribute(json, OUTCOME_KEY, Value::Str(span.outcome.as_str()));
        }
    });
    json.number("droppedAttributesCount", span.dropped_attributes);
    json.array("events", |json| span.events.iter().for_each(|event| json.object(|json| write_event(json, event))));
    json.number("droppedEventsCount", span.dropped_events);
    json.array("links", |json| span.links.iter().for_each(|link| json.object(|json| write_link(json, link))));
    json.number("droppedLinksCount", span.dropped_links);
    if span.outcome.is_error() {
        json.member("status", |json| json.object(|json| write_status(json, span)));
    }
}

fn write_status(json: &mut Json, span: &FinishedSpan) {
    let message = match span.attribute(MESSAGE_KEY) {
        Some(OwnedValue::Str(text)) => text,
        _ => status_message(span.outcome),
    };
    json.text_unless_empty("message", message);
    json.number("code", STATUS_ERROR);
}

fn attributes(json: &mut Json, attributes: &[Attribute]) {
    for given in attributes {
        attribute(json, given.key.name, given.value.as_value());
    }
}

fn write_event(json: &mut Json, event: &Event) {
    json.long("timeUnixNano", event.unix_nanos);
    json.text("name", event.name);
    json.array("attributes", |json| attributes(json, &event.attributes));
}

fn write_link(json: &mut Json, link: &Link) {
    json.plain("traceId", link.trace_id);
    json.plain("spanId", link.span_id);
    json.number("flags", link_flags(link.sampled));
}
