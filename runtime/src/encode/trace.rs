//! Spans as one OTLP request, straight from their records.
//!
//! A record is read once, from its first item to its last, and written as it is read: the fields of a message may come in
//! any order. What a later item has a say in, as the name and the status, is written last.

use crate::declare::key::{Key, KeyMeta, ValueType};
use crate::declare::keys::uncertain_times;
use crate::declare::value::{Value, cut};
use crate::encode::foreign::Scopes;
use crate::encode::resource::{EncodedResource, Request};
use crate::encode::span::{Head, SpanWriter};
use crate::encode::wire::{Opened, Wire};
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::item::Item;
use crate::record::layout::Record;
use crate::record::limits;
use crate::trace::foreign::ForeignSpan;

/// An `ExportTraceServiceRequest` in the making: one resource, our scope and those of others, any number of spans.
#[derive(Debug)]
pub(crate) struct TraceBatch {
    resource: EncodedResource,
    request: Request,
    writer: SpanWriter,
    spans: usize,
    others: Scopes,
}

impl TraceBatch {
    pub(crate) fn new(resource: &EncodedResource) -> Self {
        let mut writer = SpanWriter::default();
        let request = resource.begin(&mut writer.wire);
        TraceBatch { resource: resource.clone(), request, writer, spans: 0, others: Scopes::default() }
    }

    /// How many spans it holds.
    pub(crate) fn len(&self) -> usize {
        self.spans + self.others.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How long the request is by now.
    pub(crate) fn bytes(&self) -> usize {
        self.writer.wire.len() + self.others.bytes()
    }

    /// The request.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.take(Vec::new())
    }

    /// The request; the batch begins anew, in a buffer that may have been used before, and remembers the labels it has
    /// met.
    pub(crate) fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        self.others.write(&mut self.request, &mut self.writer.wire);
        self.request.end(&mut self.writer.wire);
        let request = std::mem::replace(&mut self.writer.wire, Wire::reusing(buffer));
        self.request = self.resource.begin(&mut self.writer.wire);
        self.spans = 0;
        request.bytes
    }

    /// Adds a span that is not ours.
    pub(crate) fn foreign(&mut self, span: &ForeignSpan) {
        self.others.add(span);
    }

    /// Adds a span as it was recorded.
    pub(crate) fn record(&mut self, record: &Record<'_>, converter: &Converter) {
        self.spans += 1;
        let callsite = record.callsite();
        let (start, duration) = record.times(converter);
        let span = self.writer.begin(&Head {
            trace_id: record.trace_id(),
            span_id: record.span_id(),
            parent_id: record.parent_id(),
            parent_is_remote: record.parent_is_remote(),
            kind: callsite.kind(),
            start,
            end: start.saturating_add(duration.as_nanos() as u64),
        });
        let (name, has_shared) = items(&mut self.writer, record, converter);
        if has_shared {
            let (shared, state) = record.shared();
            self.writer.trace_state(state);
            for (key, value) in shared {
                self.writer.attribute_unless_there(key.name, value.as_value());
            }
        }
        if record.has_uncertain_times(converter) {
            self.writer.attribute(uncertain_times::META.name, Value::Bool(true));
        }
        let name = name.unwrap_or(callsite.name());
        self.writer.end(span, name, record.outcome(), record.dropped());
    }

    /// Adds a span that is plain data already.
    pub(crate) fn finished(&mut self, finished: &FinishedSpan) {
        self.spans += 1;
        let writer = &mut self.writer;
        let span = writer.begin(&Head::of(finished));
        writer.trace_state(&finished.trace_state);
        for attribute in &finished.attributes {
            writer.attribute(attribute.key.name, attribute.value.as_value());
        }
        for event in &finished.events {
            let opened = writer.begin_event(event.unix_nanos, event.name);
            for attribute in &event.attributes {
                writer.attribute(attribute.key.name, attribute.value.as_value());
            }
            writer.end_event(opened);
        }
        for link in &finished.links {
            writer.link(link.trace_id.0, link.span_id.0, link.sampled);
        }
        let dropped = [finished.dropped_attributes, finished.dropped_events, finished.dropped_links];
        writer.end(span, &finished.name, finished.outcome, dropped);
    }
}

/// Writes the items of a record, and gives the name that was made at run time and whether spans above share anything.
#[inline]
fn items(writer: &mut SpanWriter, record: &Record<'_>, converter: &Converter) -> (Option<&'static str>, bool) {
    let (mut name, mut has_shared) = (None, false);
    // The event that is being written, and how many of its attributes are to come. They follow it at once.
    let mut event: Option<(Opened, u32)> = None;
    for item in record.items() {
        if !matches!(item, Item::Attribute(..) | Item::Skip) || matches!(event, Some((_, 0))) {
            event.take().into_iter().for_each(|(opened, _)| writer.end_event(opened));
        }
        match item {
            Item::Attribute(key, value) => {
                attribute(writer, key, value);
                event = event.map(|(opened, left)| (opened, left - 1));
            }
            Item::Event { time, name, attributes } => {
                event = Some((writer.begin_event(converter.unix_nanos(time), name), attributes));
            }
            Item::Link { trace_id, span_id, flags } => writer.link(trace_id, span_id, flags & 1 != 0),
            Item::Name(given) => name = Some(given),
            Item::Ext => has_shared = true,
            Item::Skip => {}
        }
    }
    event.into_iter().for_each(|(opened, _)| writer.end_event(opened));
    (name, has_shared)
}

#[inline]
fn attribute(writer: &mut SpanWriter, key: &'static KeyMeta, value: Value<'_>) {
    match value {
        Value::Absent => {}
        // Text that is copied was cut when it was; this was not looked at until now.
        Value::Static(text) => writer.attribute(key.name, Value::Str(cut(text, limits::value_bytes()))),
        // A `bool` is a label wherever a label is asked for, and a flag elsewhere.
        Value::Label(ordinal) if key.value_type == ValueType::Bool => {
            writer.attribute(key.name, Value::Bool(ordinal != 0));
        }
        Value::Label(ordinal) => writer.label(key, ordinal),
        value => writer.attribute(key.name, value),
    }
}
