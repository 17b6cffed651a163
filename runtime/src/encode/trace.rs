//! Encodes spans as one OTLP request, directly from their records.
//!
//! A record is read once, from its first item to its last, and written while it is read, because protobuf allows fields in any
//! order. Fields that depend on later items, such as the name and the status, are written last.

use crate::config::redact::Redact;
use crate::declare::key::{Key, KeyMeta, ValueType};
use crate::declare::keys::uncertain_times;
use crate::declare::value::{Value, cut};
use crate::encode::finished::{Scopes, write_span};
use crate::encode::resource::{EncodedResource, Request};
use crate::encode::span::{Head, SpanWriter};
use crate::encode::wire::{Opened, Wire};
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::item::Item;
use crate::record::layout::Record;
use crate::record::limits;

/// Builds an `ExportTraceServiceRequest` with one resource, our scope and those of third parties.
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

    /// The number of spans in the batch.
    pub(crate) fn len(&self) -> usize {
        self.spans + self.others.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length of the request so far.
    pub(crate) fn bytes(&self) -> usize {
        self.writer.wire.len() + self.others.bytes()
    }

    /// Returns the request and begins the next one in `buffer`, whose old content is discarded. The batch keeps its cache of
    /// labels.
    pub(crate) fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        self.others.write(&mut self.request, &mut self.writer.wire);
        self.request.end(&mut self.writer.wire);
        let request = std::mem::replace(&mut self.writer.wire, Wire::reusing(buffer));
        self.request = self.resource.begin(&mut self.writer.wire);
        self.spans = 0;
        request.bytes
    }

    /// Adds a span as it was recorded.
    pub(crate) fn record(&mut self, record: &Record<'_>, converter: &Converter) {
        self.read(record, converter, Unchanged);
    }

    /// Adds a span as it was recorded, with texts replaced by `redact`.
    pub(crate) fn redacted(&mut self, record: &Record<'_>, converter: &Converter, redact: &Redact) {
        self.read(record, converter, redact);
    }

    #[inline]
    fn read(&mut self, record: &Record<'_>, converter: &Converter, texts: impl Texts) {
        self.spans += 1;
        let (writer, callsite) = (&mut self.writer, record.callsite());
        let (start, duration) = record.times(converter);
        let span = writer.begin(&Head {
            trace_id: record.trace_id(),
            span_id: record.span_id(),
            parent_id: record.parent_id(),
            parent_is_remote: record.parent_is_remote(),
            kind: callsite.kind(),
            start,
            end: start.saturating_add(duration.as_nanos() as u64),
        });
        let (name, has_shared) = items(writer, record, converter, texts);
        if has_shared {
            shared(writer, record, texts);
        }
        if record.has_uncertain_times(converter) {
            writer.attribute(uncertain_times::META.name, Value::Bool(true));
        }
        let name = name.unwrap_or(callsite.name());
        let other = texts.instead("name", name);
        writer.end(span, other.as_deref().unwrap_or(name), record.outcome(), record.dropped());
    }

    /// Adds a span that is owned data, ours or a third party's.
    pub(crate) fn finished(&mut self, span: &FinishedSpan) {
        match &span.scope {
            Some(scope) => self.others.add(scope, span),
            None => {
                self.spans += 1;
                write_span(&mut self.writer.wire, span);
            }
        }
    }
}

/// Replaces texts of a record while they are read.
trait Texts: Copy {
    /// The replacement of `text` under `name`; `None` keeps the text.
    fn instead(self, name: &str, text: &str) -> Option<String>;

    /// The same for the text of a label. It is passed as bytes, so that [`Unchanged`] needs no check for UTF-8.
    fn instead_of_label(self, name: &str, text: &[u8]) -> Option<String>;
}

/// Keeps all texts. Compiles to nothing.
#[derive(Clone, Copy)]
struct Unchanged;

impl Texts for Unchanged {
    #[inline(always)]
    fn instead(self, _name: &str, _text: &str) -> Option<String> {
        None
    }

    #[inline(always)]
    fn instead_of_label(self, _name: &str, _text: &[u8]) -> Option<String> {
        None
    }
}

impl Texts for &Redact {
    fn instead(self, name: &str, text: &str) -> Option<String> {
        Redact::instead(self, name, text)
    }

    fn instead_of_label(self, name: &str, text: &[u8]) -> Option<String> {
        Redact::instead(self, name, str::from_utf8(text).unwrap_or_default())
    }
}

/// Writes the items of a record. Returns the name that was set at run time, and whether spans above share attributes.
#[inline]
fn items(
    writer: &mut SpanWriter,
    record: &Record<'_>,
    converter: &Converter,
    texts: impl Texts,
) -> (Option<&'static str>, bool) {
    let (mut name, mut has_shared) = (None, false);
    // The event that is being written, and how many of its attributes are to come. They follow it at once.
    let mut event: Option<(Opened, u32)> = None;
    for item in record.items() {
        if !matches!(item, Item::Attribute(..) | Item::Skip) || matches!(event, Some((_, 0))) {
            event.take().into_iter().for_each(|(opened, _)| writer.end_event(opened));
        }
        match item {
            Item::Attribute(key, value) => {
                recorded(writer, key, value, texts);
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

/// Writes the attributes that spans above share with this one. Few records have them, so this is not inlined.
#[inline(never)]
fn shared(writer: &mut SpanWriter, record: &Record<'_>, texts: impl Texts) {
    let (shared, state) = record.shared();
    writer.trace_state(state);
    for (key, value) in shared {
        if !writer.has(key.name) {
            attribute(writer, key.name, value.as_value(), texts);
        }
    }
}

/// Writes an attribute as it was recorded.
#[inline]
fn recorded(writer: &mut SpanWriter, key: &'static KeyMeta, value: Value<'_>, texts: impl Texts) {
    match value {
        Value::Absent => {}
        // Text that is copied was cut when it was; this was not looked at until now.
        Value::Static(text) => attribute(writer, key.name, Value::Str(cut(text, limits::value_bytes())), texts),
        // A `bool` is a label wherever a label is asked for, and a flag elsewhere.
        Value::Label(ordinal) if key.value_type == ValueType::Bool => {
            writer.attribute(key.name, Value::Bool(ordinal != 0));
        }
        Value::Label(ordinal) => writer.label(key, ordinal, |text| texts.instead_of_label(key.name, text)),
        value => attribute(writer, key.name, value, texts),
    }
}

// Always inlined, as what it calls: where the kind of the value is known, little is left of it.
#[inline(always)]
fn attribute(writer: &mut SpanWriter, name: &'static str, value: Value<'_>, texts: impl Texts) {
    match value {
        Value::Str(text) => match texts.instead(name, text) {
            None => writer.attribute(name, value),
            Some(other) => writer.attribute(name, Value::Str(&other)),
        },
        Value::StrArray(list) => texts_attribute(writer, name, list, texts),
        value => writer.attribute(name, value),
    }
}

/// Writes a list of texts. Not inlined: few spans have one, and the path of other attributes stays short.
#[cold]
fn texts_attribute(writer: &mut SpanWriter, name: &'static str, list: &[String], texts: impl Texts) {
    let other = |text: &String| texts.instead(name, text).unwrap_or_else(|| text.clone());
    writer.attribute(name, Value::StrArray(&list.iter().map(other).collect::<Vec<_>>()));
}
