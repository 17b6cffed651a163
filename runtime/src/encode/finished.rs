//! Spans that are owned data, as OTLP: those of a third party's scope stand together, beside ours in the same resource.

use std::sync::Arc;

use crate::declare::scope::ForeignScope;
use crate::declare::value::{OwnedValue, Value};
use crate::encode::attribute;
use crate::encode::resource::Request;
use crate::encode::span::{MESSAGE_KEY, OUTCOME_KEY, STATUS_ERROR, STATUS_OK, flags, status_message};
use crate::encode::wire::Wire;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome, Status};

/// The spans of each scope, encoded.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<(Arc<ForeignScope>, Wire)>,
    spans: usize,
}

impl Scopes {
    /// Adds a span to those of its scope.
    pub(crate) fn add(&mut self, of: &Arc<ForeignScope>, span: &FinishedSpan) {
        let is_known = |(scope, _): &(Arc<ForeignScope>, Wire)| Arc::ptr_eq(scope, of) || scope == of;
        let at = self.scopes.iter().position(is_known).unwrap_or_else(|| {
            self.scopes.push((of.clone(), Wire::default()));
            self.scopes.len() - 1
        });
        self.spans += 1;
        write_span(&mut self.scopes[at].1, span);
    }

    /// How many spans it holds.
    pub(crate) fn len(&self) -> usize {
        self.spans
    }

    pub(crate) fn bytes(&self) -> usize {
        self.scopes.iter().map(|(_, wire)| wire.len()).sum()
    }

    /// Writes all of it into a request, and begins anew.
    pub(crate) fn write(&mut self, request: &mut Request, wire: &mut Wire) {
        for (scope, spans) in self.scopes.drain(..) {
            request.next_scope(wire);
            wire.nested(1, |wire| write_scope(wire, &scope));
            wire.push(&spans.bytes);
            wire.text_unless_empty(3, scope.schema_url.as_deref().unwrap_or_default());
        }
        self.spans = 0;
    }
}

/// The status of a span, with its code and its message: what a third party gave it, or what its outcome says.
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

/// What is said of the outcome as an attribute: the status has no word for it.
pub(crate) fn outcome(span: &FinishedSpan) -> Option<&'static str> {
    let is_silent = span.outcome == Outcome::Cancelled && span.attribute(OUTCOME_KEY).is_none();
    is_silent.then(|| span.outcome.as_str())
}

fn write_scope(wire: &mut Wire, scope: &ForeignScope) {
    wire.text(1, &scope.name);
    wire.text_unless_empty(2, scope.version.as_deref().unwrap_or_default());
    scope.attributes.iter().for_each(|(key, value)| attribute::field(wire, 3, key, value.as_value()));
}

/// Writes a span as a field of its scope.
pub(crate) fn write_span(wire: &mut Wire, span: &FinishedSpan) {
    wire.nested(2, |wire| {
        wire.field_of_bytes(1, &span.trace_id.0.to_be_bytes());
        wire.field_of_bytes(2, &span.span_id.0.to_be_bytes());
        wire.text_unless_empty(3, &span.trace_state);
        if let Some(parent) = span.parent_span_id {
            wire.field_of_bytes(4, &parent.0.to_be_bytes());
        }
        wire.text(5, &span.name);
        wire.number(6, span.kind as u64 + 1);
        wire.fixed(7, span.start_unix_nanos);
        wire.fixed(8, span.end_unix_nanos());
        attributes(wire, 9, &span.attributes);
        if let Some(outcome) = outcome(span) {
            attribute::field(wire, 9, OUTCOME_KEY, Value::Str(outcome));
        }
        wire.number_unless_zero(10, span.dropped_attributes);
        span.events.iter().for_each(|event| wire.nested(11, |wire| write_event(wire, event)));
        wire.number_unless_zero(12, span.dropped_events);
        span.links.iter().for_each(|link| wire.nested(13, |wire| write_link(wire, link)));
        wire.number_unless_zero(14, span.dropped_links);
        if let Some((code, message)) = status(span) {
            wire.nested(15, |wire| {
                wire.text_unless_empty(2, message);
                wire.number(3, u64::from(code));
            });
        }
        // Field 16 has a tag of two bytes.
        wire.push(&[0x85, 0x01]);
        wire.push(&flags(true, Some(span.parent_is_remote)).to_le_bytes());
    });
}

fn write_event(wire: &mut Wire, event: &Event) {
    wire.fixed(1, event.unix_nanos);
    wire.text(2, &event.name);
    attributes(wire, 3, &event.attributes);
    wire.number_unless_zero(4, event.dropped_attributes);
}

fn write_link(wire: &mut Wire, link: &Link) {
    wire.field_of_bytes(1, &link.trace_id.0.to_be_bytes());
    wire.field_of_bytes(2, &link.span_id.0.to_be_bytes());
    wire.text_unless_empty(3, &link.trace_state);
    attributes(wire, 4, &link.attributes);
    wire.number_unless_zero(5, link.dropped_attributes);
    wire.push(&[6 << 3 | 5]);
    wire.push(&flags(link.sampled, link.is_remote).to_le_bytes());
}

fn attributes(wire: &mut Wire, field: u8, attributes: &[Attribute]) {
    attributes.iter().for_each(|given| attribute::field(wire, field, &given.key, given.value.as_value()));
}
