//! Filling a span that is not ours, within the limits of its parts.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::span::{ForeignEvent, ForeignLink, ForeignScope, ForeignSpan, ForeignStatus, Named};
use crate::declare::callsite::Kind;
use crate::declare::value::cut;
use crate::record::ids::{SpanId, TraceId};
use crate::record::limits::{self, CURRENT};

impl ForeignSpan {
    /// A span of which nothing more is known yet.
    pub(crate) fn new(scope: Arc<ForeignScope>, name: Cow<'static, str>, kind: Kind) -> Self {
        ForeignSpan {
            scope,
            name,
            kind,
            trace_id: TraceId::default(),
            span_id: SpanId::default(),
            parent_span_id: None,
            parent_is_remote: false,
            trace_state: String::new(),
            start_unix_nanos: 0,
            end_unix_nanos: 0,
            status: ForeignStatus::Unset,
            attributes: Vec::new(),
            events: Vec::new(),
            links: Vec::new(),
            dropped_attributes: 0,
            dropped_events: 0,
            dropped_links: 0,
        }
    }

    /// Records an attribute; an earlier value of the name gives way.
    pub(crate) fn set(&mut self, attribute: Named) {
        let limit = CURRENT.attributes.load(Relaxed);
        insert(&mut self.attributes, &mut self.dropped_attributes, limit, attribute);
    }

    /// Records that something happened.
    pub(crate) fn event(&mut self, mut event: ForeignEvent) {
        if self.events.len() >= CURRENT.events.load(Relaxed) as usize {
            return self.dropped_events = self.dropped_events.saturating_add(1);
        }
        let limit = CURRENT.attributes_per_event.load(Relaxed);
        limit_attributes(&mut event.attributes, &mut event.dropped_attributes, limit);
        self.events.push(event);
    }

    /// Links to another span.
    pub(crate) fn link(&mut self, mut link: ForeignLink) {
        if self.links.len() >= CURRENT.links.load(Relaxed) as usize {
            return self.dropped_links = self.dropped_links.saturating_add(1);
        }
        let limit = CURRENT.attributes_per_link.load(Relaxed);
        limit_attributes(&mut link.attributes, &mut link.dropped_attributes, limit);
        self.links.push(link);
    }

    /// Says how it ended. Ok is final; an error stands until another one, or Ok; unset says nothing.
    pub(crate) fn set_status(&mut self, status: ForeignStatus) {
        match (&self.status, status) {
            (ForeignStatus::Ok, _) | (_, ForeignStatus::Unset) => {}
            (_, ForeignStatus::Error(text)) => self.status = ForeignStatus::Error(shortened(text)),
            (_, ForeignStatus::Ok) => self.status = ForeignStatus::Ok,
        }
    }
}

fn limit_attributes(attributes: &mut Vec<Named>, dropped: &mut u32, limit: u32) {
    let given = std::mem::take(attributes);
    given.into_iter().for_each(|attribute| insert(attributes, dropped, limit, attribute));
}

/// A name stands once: a later value takes the place of an earlier one.
fn insert(attributes: &mut Vec<Named>, dropped: &mut u32, limit: u32, (name, mut value): Named) {
    let bytes = limits::value_bytes();
    value.change_texts(|text| (text.len() > bytes).then(|| cut(text, bytes).to_owned()));
    if let Some((_, known)) = attributes.iter_mut().find(|(known, _)| *known == name) {
        *known = value;
    } else if attributes.len() < limit as usize {
        attributes.push((name, value));
    } else {
        *dropped = dropped.saturating_add(1);
    }
}

fn shortened(text: Cow<'static, str>) -> Cow<'static, str> {
    let kept = cut(&text, limits::value_bytes()).len();
    if kept == text.len() { text } else { Cow::Owned(text[..kept].to_owned()) }
}
