//! Records attributes, events, links and the status on external spans, within the limits of a span.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::declare::callsite::Kind;
use crate::declare::scope::ExternalScope;
use crate::declare::value::cut;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome, Status};
use crate::record::limits::{self, CURRENT};
use crate::trace::context::Context;

impl FinishedSpan {
    /// Creates a span of another API with the ids of `context`, below `parent`; a root if `parent` is invalid.
    pub(crate) fn begun(
        scope: &Arc<ExternalScope>,
        name: Cow<'static, str>,
        kind: Kind,
        context: &Context,
        parent: &Context,
    ) -> Self {
        FinishedSpan {
            scope: Some(scope.clone()),
            trace_id: context.trace_id(),
            span_id: context.span_id(),
            parent_span_id: Some(parent.span_id()).filter(|id| id.is_valid()),
            parent_is_remote: parent.is_remote(),
            ..FinishedSpan::new(name, kind)
        }
    }

    /// Records an attribute; an earlier value of the key is replaced. An attribute beyond the limit is counted as dropped.
    pub(crate) fn set(&mut self, attribute: Attribute) {
        let limit = CURRENT.attributes.load(Relaxed);
        insert(&mut self.attributes, &mut self.dropped_attributes, limit, attribute);
    }

    /// Records an event, or counts it as dropped if the span has the maximum number of events.
    pub(crate) fn event(&mut self, mut event: Event) {
        if self.events.len() >= CURRENT.events.load(Relaxed) as usize {
            return self.dropped_events = self.dropped_events.saturating_add(1);
        }
        let limit = CURRENT.attributes_per_event.load(Relaxed);
        limit_attributes(&mut event.attributes, &mut event.dropped_attributes, limit);
        self.events.push(event);
    }

    /// Adds a link to another span, or counts the link as dropped if the span has the maximum number of links.
    pub(crate) fn link(&mut self, mut link: Link) {
        if self.links.len() >= CURRENT.links.load(Relaxed) as usize {
            return self.dropped_links = self.dropped_links.saturating_add(1);
        }
        let limit = CURRENT.attributes_per_link.load(Relaxed);
        limit_attributes(&mut link.attributes, &mut link.dropped_attributes, limit);
        self.links.push(link);
    }

    /// Sets the status. Ok is final; an error is replaced by a later error or Ok; unset changes nothing.
    pub(crate) fn set_status(&mut self, status: Status) {
        match (&self.status, status) {
            (Status::Ok, _) | (_, Status::Unset) => {}
            (_, Status::Error(text)) => {
                (self.status, self.outcome) = (Status::Error(shortened(text)), Outcome::Error);
            }
            (_, Status::Ok) => (self.status, self.outcome) = (Status::Ok, Outcome::Ok),
        }
    }
}

fn limit_attributes(attributes: &mut Vec<Attribute>, dropped: &mut u32, limit: u32) {
    let given = std::mem::take(attributes);
    given.into_iter().for_each(|attribute| insert(attributes, dropped, limit, attribute));
}

/// Inserts an attribute with its texts cut to their maximum length. An earlier value of the key is replaced. A new key beyond
/// `limit` is counted as dropped.
fn insert(attributes: &mut Vec<Attribute>, dropped: &mut u32, limit: u32, mut given: Attribute) {
    let bytes = limits::value_bytes();
    given.value.change_texts(|text| (text.len() > bytes).then(|| cut(text, bytes).to_owned()));
    if let Some(known) = attributes.iter_mut().find(|known| known.key == given.key) {
        *known = given;
    } else if attributes.len() < limit as usize {
        attributes.push(given);
    } else {
        *dropped = dropped.saturating_add(1);
    }
}

fn shortened(text: Cow<'static, str>) -> Cow<'static, str> {
    let kept = cut(&text, limits::value_bytes()).len();
    if kept == text.len() { text } else { Cow::Owned(text[..kept].to_owned()) }
}
