//! Spans that are not ours, as OTLP/JSON.

use super::writer::Json;
use super::{array_of_scope, attribute};
use crate::encode::foreign::{STATUS_OK, flags};
use crate::encode::span::STATUS_ERROR;
use crate::trace::foreign::{ForeignEvent, ForeignLink, ForeignScope, ForeignSpan, ForeignStatus, Named};

/// An element of `scopeSpans` for each scope, in the order in which they come.
pub(super) fn scopes(json: &mut Json, spans: &[ForeignSpan]) {
    let mut done: Vec<&ForeignScope> = Vec::new();
    for ForeignSpan { scope, .. } in spans {
        if done.iter().any(|known| **known == **scope) {
            continue;
        }
        done.push(scope);
        json.object(|json| {
            array_of_scope(
                json,
                "spans",
                |json| write_scope(json, scope),
                |json| {
                    for span in spans.iter().filter(|span| span.scope == *scope) {
                        json.object(|json| write_span(json, span));
                    }
                },
            );
            json.text_unless_empty("schemaUrl", scope.schema_url.as_deref().unwrap_or_default());
        });
    }
}

fn write_scope(json: &mut Json, scope: &ForeignScope) {
    json.text("name", &scope.name);
    json.text_unless_empty("version", scope.version.as_deref().unwrap_or_default());
    attributes(json, &scope.attributes);
}

fn write_span(json: &mut Json, span: &ForeignSpan) {
    json.plain("traceId", span.trace_id);
    json.plain("spanId", span.span_id);
    json.text_unless_empty("traceState", &span.trace_state);
    if let Some(parent) = span.parent_span_id {
        json.plain("parentSpanId", parent);
    }
    json.number("flags", flags(true, span.parent_is_remote));
    json.text("name", &span.name);
    json.number("kind", span.kind as u8 + 1);
    json.long("startTimeUnixNano", span.start_unix_nanos);
    json.long("endTimeUnixNano", span.end_unix_nanos);
    attributes(json, &span.attributes);
    json.number("droppedAttributesCount", span.dropped_attributes);
    json.array("events", |json| span.events.iter().for_each(|event| json.object(|json| write_event(json, event))));
    json.number("droppedEventsCount", span.dropped_events);
    json.array("links", |json| span.links.iter().for_each(|link| json.object(|json| write_link(json, link))));
    json.number("droppedLinksCount", span.dropped_links);
    match &span.status {
        ForeignStatus::Unset => {}
        ForeignStatus::Ok => json.member("status", |json| json.object(|json| json.number("code", STATUS_OK))),
        ForeignStatus::Error(text) => json.member("status", |json| {
            json.object(|json| {
                json.text_unless_empty("message", text);
                json.number("code", STATUS_ERROR);
            });
        }),
    }
}

fn write_event(json: &mut Json, event: &ForeignEvent) {
    json.long("timeUnixNano", event.unix_nanos);
    json.text("name", &event.name);
    attributes(json, &event.attributes);
    json.number("droppedAttributesCount", event.dropped_attributes);
}

fn write_link(json: &mut Json, link: &ForeignLink) {
    json.plain("traceId", link.trace_id);
    json.plain("spanId", link.span_id);
    json.text_unless_empty("traceState", &link.trace_state);
    attributes(json, &link.attributes);
    json.number("droppedAttributesCount", link.dropped_attributes);
    json.number("flags", flags(link.sampled, link.is_remote));
}

fn attributes(json: &mut Json, attributes: &[Named]) {
    json.array("attributes", |json| attributes.iter().for_each(|(key, value)| attribute(json, key, value.as_value())));
}
