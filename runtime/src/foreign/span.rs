//! A span that is not ours, as plain data. Limits apply as it is filled.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::callsite::Kind;
use crate::config::AttributeValue;
use crate::ids::{SpanId, TraceId};
use crate::limits::{self, CURRENT};
use crate::value::cut;

/// The name of an attribute and its value.
pub(crate) type Named = (Cow<'static, str>, AttributeValue);

/// Who made a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ForeignScope {
    pub(crate) name: Cow<'static, str>,
    pub(crate) version: Option<Cow<'static, str>>,
    pub(crate) schema_url: Option<Cow<'static, str>>,
    pub(crate) attributes: Vec<Named>,
}

/// How a span ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ForeignStatus {
    #[default]
    Unset,
    Error(Cow<'static, str>),
    Ok,
}

/// Something that happened during a span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignEvent {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unix_nanos: u64,
    pub(crate) attributes: Vec<Named>,
    pub(crate) dropped_attributes: u32,
}

/// Another span that one has to do with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignLink {
    pub(crate) trace_id: TraceId,
    pub(crate) span_id: SpanId,
    pub(crate) sampled: bool,
    pub(crate) is_remote: bool,
    pub(crate) trace_state: String,
    pub(crate) attributes: Vec<Named>,
    pub(crate) dropped_attributes: u32,
}

/// A span that is not ours. Only sampled ones become data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignSpan {
    pub(crate) scope: Arc<ForeignScope>,
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: Kind,
    pub(crate) trace_id: TraceId,
    pub(crate) span_id: SpanId,
    pub(crate) parent_span_id: Option<SpanId>,
    pub(crate) parent_is_remote: bool,
    /// As the header `tracestate` has it.
    pub(crate) trace_state: String,
    pub(crate) start_unix_nanos: u64,
    pub(crate) end_unix_nanos: u64,
    pub(crate) status: ForeignStatus,
    pub(crate) attributes: Vec<Named>,
    pub(crate) events: Vec<ForeignEvent>,
    pub(crate) links: Vec<ForeignLink>,
    pub(crate) dropped_attributes: u32,
    pub(crate) dropped_events: u32,
    pub(crate) dropped_links: u32,
}

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

    /// Puts other texts where `instead`, given a name and a text, has one: those of attributes, the span's name under
    /// `name`, the description of its status under `error.message`.
    pub(crate) fn change_texts(&mut self, instead: &dyn Fn(&str, &str) -> Option<String>) {
        if let Some(name) = instead("name", &self.name) {
            self.name = Cow::Owned(name);
        }
        if let ForeignStatus::Error(text) = &mut self.status
            && let Some(other) = instead("error.message", text)
        {
            *text = Cow::Owned(other);
        }
        let of_events = self.events.iter_mut().map(|event| &mut event.attributes);
        let of_links = self.links.iter_mut().map(|link| &mut link.attributes);
        for (name, value) in [&mut self.attributes].into_iter().chain(of_events).chain(of_links).flatten() {
            texts_of(value, |text| {
                if let Some(other) = instead(name, text) {
                    *text = other;
                }
            });
        }
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let events = self.events.iter().map(|event| size_of::<ForeignEvent>() + attribute_bytes(&event.attributes));
        let links = self
            .links
            .iter()
            .map(|link| size_of::<ForeignLink>() + link.trace_state.len() + attribute_bytes(&link.attributes));
        size_of::<ForeignSpan>()
            + self.name.len()
            + self.trace_state.len()
            + attribute_bytes(&self.attributes)
            + events.sum::<usize>()
            + links.sum::<usize>()
    }
}

fn attribute_bytes(attributes: &[Named]) -> usize {
    let value = |value: &AttributeValue| match value {
        AttributeValue::Str(text) => text.len(),
        AttributeValue::StrArray(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
        AttributeValue::I64Array(numbers) => numbers.len() * 8,
        AttributeValue::F64Array(numbers) => numbers.len() * 8,
        AttributeValue::BoolArray(flags) => flags.len(),
        AttributeValue::I64(_) | AttributeValue::F64(_) | AttributeValue::Bool(_) => 0,
    };
    attributes.iter().map(|(name, given)| size_of::<Named>() + name.len() + value(given)).sum()
}

fn limit_attributes(attributes: &mut Vec<Named>, dropped: &mut u32, limit: u32) {
    let given = std::mem::take(attributes);
    given.into_iter().for_each(|attribute| insert(attributes, dropped, limit, attribute));
}

/// A name stands once: a later value takes the place of an earlier one.
fn insert(attributes: &mut Vec<Named>, dropped: &mut u32, limit: u32, (name, mut value): Named) {
    let bytes = limits::value_bytes();
    texts_of(&mut value, |text| text.truncate(cut(text, bytes).len()));
    if let Some((_, known)) = attributes.iter_mut().find(|(known, _)| *known == name) {
        *known = value;
    } else if attributes.len() < limit as usize {
        attributes.push((name, value));
    } else {
        *dropped = dropped.saturating_add(1);
    }
}

fn texts_of(value: &mut AttributeValue, change: impl FnMut(&mut String)) {
    match value {
        AttributeValue::Str(text) => [text].into_iter().for_each(change),
        AttributeValue::StrArray(texts) => texts.iter_mut().for_each(change),
        _ => {}
    }
}

fn shortened(text: Cow<'static, str>) -> Cow<'static, str> {
    let kept = cut(&text, limits::value_bytes()).len();
    if kept == text.len() { text } else { Cow::Owned(text[..kept].to_owned()) }
}
