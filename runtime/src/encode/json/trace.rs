//! Spans as OTLP/JSON.

use super::writer::Json;
use super::{array_of_scope, attribute, own_scope, request_of_scopes};
use crate::declare::scope::ForeignScope;
use crate::declare::value::Value;
use crate::encode::finished::{outcome, status};
use crate::encode::resource::EncodedResource;
use crate::encode::span::{OUTCOME_KEY, flags};
use crate::record::finished::{Attribute, Event, FinishedSpan, Link};

/// An `ExportTraceServiceRequest` with these spans: ours, and those of each other scope, in the order in which they come.
pub(crate) fn trace_request(resource: &EncodedResource, spans: &[FinishedSpan]) -> Vec<u8> {
    let of_scope = |json: &mut Json, scope: Option<&ForeignScope>| {
        let spans = spans.iter().filter(|span| span.scope.as_deref() == scope);
        spans.for_each(|span| json.object(|json| write_span(json, span)));
    };
    request_of_scopes(resource, ["resourceSpans", "scopeSpans", "spans"], |json| {
        own_scope(json, "spans", |json| of_scope(json, None));
        let mut done: Vec<&ForeignScope> = Vec::new();
        for scope in spans.iter().filter_map(|span| span.scope.as_deref()) {
            if done.contains(&scope) {
                continue;
            }
            done.push(scope);
            json.object(|json| {
                array_of_scope(json, "spans", |json| write_scope(json, scope), |json| of_scope(json, Some(scope)));
                json.text_unless_empty("schemaUrl", scope.schema_url.as_deref().unwrap_or_default());
            });
        }
    })
}

fn write_scope(json: &mut Json, scope: &ForeignScope) {
    json.text("name", &scope.name);
    json.text_unless_empty("version", scope.version.as_deref().unwrap_or_default());
    json.array("attributes", |json| {
        scope.attributes.iter().for_each(|(key, value)| attribute(json, key, value.as_value()));
    });
}

fn write_span(json: &mut Json, span: &FinishedSpan) {
    json.plain("traceId", span.trace_id);
    json.plain("spanId", span.span_id);
    if let Some(parent) = span.parent_span_id {
        json.plain("parentSpanId", parent);
    }
    json.text_unless_empty("traceState", &span.trace_state);
    json.number("flags", flags(true, Some(span.parent_is_remote)));
    json.text("name", &span.name);
    json.number("kind", span.kind as u8 + 1);
    json.long("startTimeUnixNano", span.start_unix_nanos);
    json.long("endTimeUnixNano", span.end_unix_nanos());
    json.array("attributes", |json| {
        attributes(json, &span.attributes);
        if let Some(outcome) = outcome(span) {
            attribute(json, OUTCOME_KEY, Value::Str(outcome));
        }
    });
    json.number("droppedAttributesCount", span.dropped_attributes);
    json.array("events", |json| span.events.iter().for_each(|event| json.object(|json| write_event(json, event))));
    json.number("droppedEventsCount", span.dropped_events);
    json.array("links", |json| span.links.iter().for_each(|link| json.object(|json| write_link(json, link))));
    json.number("droppedLinksCount", span.dropped_links);
    if let Some((code, message)) = status(span) {
        json.member("status", |json| {
            json.object(|json| {
                json.text_unless_empty("message", message);
                json.number("code", code);
            });
        });
    }
}

fn attributes(json: &mut Json, attributes: &[Attribute]) {
    attributes.iter().for_each(|given| attribute(json, &given.key, given.value.as_value()));
}

fn write_event(json: &mut Json, event: &Event) {
    json.long("timeUnixNano", event.unix_nanos);
    json.text("name", &event.name);
    json.array("attributes", |json| attributes(json, &event.attributes));
    json.number("droppedAttributesCount", event.dropped_attributes);
}

fn write_link(json: &mut Json, link: &Link) {
    json.plain("traceId", link.trace_id);
    json.plain("spanId", link.span_id);
    json.text_unless_empty("traceState", &link.trace_state);
    if !link.attributes.is_empty() {
        json.array("attributes", |json| attributes(json, &link.attributes));
    }
    if link.dropped_attributes > 0 {
        json.number("droppedAttributesCount", link.dropped_attributes);
    }
    json.number("flags", flags(link.sampled, link.is_remote));
}
