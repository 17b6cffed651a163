//! A span that is not ours, as plain data.

use std::borrow::Cow;
use std::sync::Arc;

use crate::declare::callsite::Kind;
use crate::declare::value::OwnedValue;
use crate::record::ids::{SpanId, TraceId};

/// The name of an attribute and its value.
pub(crate) type Named = (Cow<'static, str>, OwnedValue);

/// Who made a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ForeignScope {
    pub(crate) name: Cow<'static, str>,
    pub(crate) version: Option<Cow<'static, str>>,
    pub(crate) schema_url: Option<Cow<'static, str>>,
    pub(crate) attributes: Vec<Named>,
}

/// How a span ended.
#[cfg_attr(
    not(any(feature = "otel", feature = "tracing")),
    expect(dead_code, reason = "only other APIs end such spans")
)]
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
            value.change_texts(|text| instead(name, text));
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
    attributes.iter().map(|(name, value)| size_of::<Named>() + name.len() + value.heap_bytes()).sum()
}
