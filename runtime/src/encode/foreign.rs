//! Spans that are not ours, as OTLP: those of one scope stand together, beside ours in the same resource.

use std::sync::Arc;

use crate::encode::attribute;
use crate::encode::resource::Request;
use crate::encode::span::{FLAG_HAS_IS_REMOTE, FLAG_IS_REMOTE, FLAG_SAMPLED, STATUS_ERROR};
use crate::encode::wire::Wire;
use crate::trace::foreign::{ForeignEvent, ForeignLink, ForeignScope, ForeignSpan, ForeignStatus, Named};

/// `STATUS_CODE_OK`.
pub(crate) const STATUS_OK: u8 = 1;

/// The spans of each scope, encoded.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<(Arc<ForeignScope>, Wire)>,
    spans: usize,
}

impl Scopes {
    /// Adds a span to those of its scope.
    pub(crate) fn add(&mut self, span: &ForeignSpan) {
        let is_known = |(scope, _): &(Arc<ForeignScope>, Wire)| Arc::ptr_eq(scope, &span.scope) || *scope == span.scope;
        let at = self.scopes.iter().position(is_known).unwrap_or_else(|| {
            self.scopes.push((span.scope.clone(), Wire::default()));
            self.scopes.len() - 1
        });
        self.spans += 1;
        self.scopes[at].1.nested(2, |wire| write_span(wire, span));
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

/// The flags of a span, or of a link: whether it is sampled, and whether the other side is remote.
pub(crate) fn flags(sampled: bool, is_remote: bool) -> u32 {
    FLAG_HAS_IS_REMOTE | if sampled { FLAG_SAMPLED } else { 0 } | if is_remote { FLAG_IS_REMOTE } else { 0 }
}

fn write_scope(wire: &mut Wire, scope: &ForeignScope) {
    wire.text(1, &scope.name);
    wire.text_unless_empty(2, scope.version.as_deref().unwrap_or_default());
    attributes(wire, 3, &scope.attributes);
}

fn write_span(wire: &mut Wire, span: &ForeignSpan) {
    wire.field_of_bytes(1, &span.trace_id.0.to_be_bytes());
    wire.field_of_bytes(2, &span.span_id.0.to_be_bytes());
    wire.text_unless_empty(3, &span.trace_state);
    if let Some(parent) = span.parent_span_id {
        wire.field_of_bytes(4, &parent.0.to_be_bytes());
    }
    wire.text(5, &span.name);
    wire.number(6, span.kind as u64 + 1);
    wire.fixed(7, span.start_unix_nanos);
    wire.fixed(8, span.end_unix_nanos);
    attributes(wire, 9, &span.attributes);
    count(wire, 10, span.dropped_attributes);
    span.events.iter().for_each(|event| wire.nested(11, |wire| write_event(wire, event)));
    count(wire, 12, span.dropped_events);
    span.links.iter().for_each(|link| wire.nested(13, |wire| write_link(wire, link)));
    count(wire, 14, span.dropped_links);
    match &span.status {
        ForeignStatus::Unset => {}
        ForeignStatus::Ok => wire.nested(15, |wire| wire.number(3, u64::from(STATUS_OK))),
        ForeignStatus::Error(text) => wire.nested(15, |wire| {
            wire.text_unless_empty(2, text);
            wire.number(3, u64::from(STATUS_ERROR));
        }),
    }
    // Field 16 has a tag of two bytes.
    wire.push(&[0x85, 0x01]);
    wire.push(&flags(true, span.parent_is_remote).to_le_bytes());
}

fn write_event(wire: &mut Wire, event: &ForeignEvent) {
    wire.fixed(1, event.unix_nanos);
    wire.text(2, &event.name);
    attributes(wire, 3, &event.attributes);
    count(wire, 4, event.dropped_attributes);
}

fn write_link(wire: &mut Wire, link: &ForeignLink) {
    wire.field_of_bytes(1, &link.trace_id.0.to_be_bytes());
    wire.field_of_bytes(2, &link.span_id.0.to_be_bytes());
    wire.text_unless_empty(3, &link.trace_state);
    attributes(wire, 4, &link.attributes);
    count(wire, 5, link.dropped_attributes);
    wire.push(&[6 << 3 | 5]);
    wire.push(&flags(link.sampled, link.is_remote).to_le_bytes());
}

fn attributes(wire: &mut Wire, field: u8, attributes: &[Named]) {
    attributes.iter().for_each(|(key, value)| attribute::field(wire, field, key, value.as_value()));
}

fn count(wire: &mut Wire, field: u8, count: u32) {
    if count > 0 {
        wire.number(field, u64::from(count));
    }
}
