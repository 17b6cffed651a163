//! Encodes spans that are owned data. In a request, third-party spans are grouped by scope and follow our own spans.

use std::sync::Arc;

use crate::declare::scope::ExternalScope;
use crate::declare::value::{OwnedValue, Value};
use crate::encode::message::{self, Message};
use crate::encode::resource::{self, Of, Request};
use crate::encode::span::{MESSAGE_KEY, OUTCOME_KEY, STATUS_ERROR, STATUS_OK, flags, status_message};
use crate::encode::wire::Wire;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome, Status};

/// Encoded third-party spans, by scope.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<(Arc<ExternalScope>, Wire)>,
    spans: usize,
}

impl Scopes {
    /// Encodes a span and adds it to its scope.
    pub(crate) fn add(&mut self, of: &Arc<ExternalScope>, span: &FinishedSpan) {
        let is_known = |(scope, _): &(Arc<ExternalScope>, Wire)| Arc::ptr_eq(scope, of) || scope == of;
        let at = self.scopes.iter().position(is_known).unwrap_or_else(|| {
            self.scopes.push((of.clone(), Wire::default()));
            self.scopes.len() - 1
        });
        self.spans += 1;
        write_span(&mut self.scopes[at].1, span);
    }

    /// Returns the number of spans in all scopes.
    pub(crate) fn len(&self) -> usize {
        self.spans
    }

    pub(crate) fn bytes(&self) -> usize {
        self.scopes.iter().map(|(_, wire)| wire.len()).sum()
    }

    /// Moves all scopes into a request.
    pub(crate) fn write(&mut self, request: &mut Request, wire: &mut Wire) {
        for (scope, spans) in self.scopes.drain(..) {
            request.next_scope(wire);
            resource::of_scope(wire, Of::External(&scope), |wire| wire.push(&spans.bytes));
        }
        self.spans = 0;
    }
}

/// Returns the code and the message of the status that was set. If none was set, returns an error for a failed outcome, and
/// `None` for other outcomes.
pub(crate) fn status(span: &FinishedSpan) -> Option<(u8, &str)> {
    match &span.status {
        Status::Ok => Some((STATUS_OK, "")),
        Status::Error(text) => Some((STATUS_ERROR, text)),
        Status::Unset => span.outcome.is_error().then(|| match span.attribute(MESSAGE_KEY) {
            Some(OwnedValue::Str(text)) => (STATUS_ERROR, &**text),
            _ => (STATUS_ERROR, status_message(span.outcome)),
        }),
    }
}

/// Returns the value of the outcome attribute to add to a cancelled span, because its status cannot express cancellation;
/// `None` for other spans, and if the span has the attribute.
pub(crate) fn outcome(span: &FinishedSpan) -> Option<&'static str> {
    let is_silent = span.outcome == Outcome::Cancelled && span.attribute(OUTCOME_KEY).is_none();
    is_silent.then(|| span.outcome.as_str())
}

/// Writes a span as a field of its scope.
pub(crate) fn write_span(m: &mut impl Message, span: &FinishedSpan) {
    m.element(2, |m| {
        m.id(1, "traceId", &span.trace_id.0.to_be_bytes());
        m.id(2, "spanId", &span.span_id.0.to_be_bytes());
        m.string_unless_empty(3, "traceState", &span.trace_state);
        if let Some(parent) = span.parent_span_id {
            m.id(4, "parentSpanId", &parent.0.to_be_bytes());
        }
        m.string(5, "name", &span.name);
        m.uint32(6, "kind", span.kind as u32 + 1);
        m.fixed64(7, "startTimeUnixNano", span.start_unix_nanos);
        m.fixed64(8, "endTimeUnixNano", span.end_unix_nanos());
        let outcome = outcome(span).map(|outcome| (OUTCOME_KEY, Value::Str(outcome)));
        message::attributes(m, 9, given(&span.attributes).chain(outcome));
        m.count(10, "droppedAttributesCount", span.dropped_attributes);
        m.messages(11, "events", &span.events, event);
        m.count(12, "droppedEventsCount", span.dropped_events);
        m.messages(13, "links", &span.links, link);
        m.count(14, "droppedLinksCount", span.dropped_links);
        if let Some((code, message)) = status(span) {
            m.message(15, "status", |m| {
                m.string_unless_empty(2, "message", message);
                m.uint32(3, "code", u32::from(code));
            });
        }
        m.fixed32(16, "flags", flags(true, Some(span.parent_is_remote)));
    });
}

fn event(m: &mut impl Message, event: &Event) {
    m.fixed64(1, "timeUnixNano", event.unix_nanos);
    m.string(2, "name", &event.name);
    message::attributes(m, 3, given(&event.attributes));
    m.count(4, "droppedAttributesCount", event.dropped_attributes);
}

fn link(m: &mut impl Message, link: &Link) {
    m.id(1, "traceId", &link.trace_id.0.to_be_bytes());
    m.id(2, "spanId", &link.span_id.0.to_be_bytes());
    m.string_unless_empty(3, "traceState", &link.trace_state);
    if !link.attributes.is_empty() {
        message::attributes(m, 4, given(&link.attributes));
    }
    if link.dropped_attributes > 0 {
        m.uint32(5, "droppedAttributesCount", link.dropped_attributes);
    }
    m.fixed32(6, "flags", flags(link.sampled, link.is_remote));
}

fn given(attributes: &[Attribute]) -> impl Iterator<Item = (&str, Value<'_>)> {
    attributes.iter().map(|given| (&*given.key, given.value.as_value()))
}
