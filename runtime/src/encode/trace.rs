//! Encodes spans as one OTLP request, directly from their records.
//!
//! A record is read once, from its first item to its last, and encoded at the same time, because protobuf allows fields
//! in any order. Fields that depend on later items, such as the name and the status, are written last.

use crate::config::redact::Redact;
use crate::declare::array::{Array, Element};
use crate::declare::callsite::{Callsite, scope_of};
use crate::declare::key::{Key, KeyMeta, ValueType};
use crate::declare::keys::uncertain_times;
use crate::declare::value::{Value, cut};
use crate::encode::finished::{Scopes, write_span};
use crate::encode::resource::{self, EncodedResource, Of, Request};
use crate::encode::span::{Head, SpanWriter};
use crate::encode::wire::{Opened, Wire};
use crate::record::clock::Converter;
use crate::record::finished::FinishedSpan;
use crate::record::item::Item;
use crate::record::layout::Record;
use crate::record::limits;

/// Builds an `ExportTraceServiceRequest` with one resource, one scope for each crate that declares spans, and
/// third-party scopes.
///
/// The spans of each crate are contiguous. Those of the first crate follow the start of the request in its buffer;
/// those of other crates are appended at the end. So nothing is copied if there is only one crate.
#[derive(Debug)]
pub(crate) struct TraceBatch {
    resource: EncodedResource,
    request: Request,
    /// Writes to the buffer of the current crate, or of the request if there is no span yet.
    writer: SpanWriter,
    spans: usize,
    crates: Vec<CrateSpans>,
    /// The callsite of the last span of the current crate, and its name: consecutive spans often share a callsite.
    callsite: Option<(&'static Callsite, &'static str)>,
    /// The `crate_lines` of the last span, and the index in `crates` of the crate whose buffer the writer has.
    lines: &'static str,
    current: usize,
    /// The crate whose buffer begins the request; `None` before the first span.
    first: Option<usize>,
    others: Scopes,
}

/// The spans of one crate in a request.
#[derive(Debug)]
struct CrateSpans {
    /// See [`Callsite::crate_lines`](crate::declare::callsite::Callsite::crate_lines).
    lines: &'static str,
    /// The encoded spans. Empty while the writer has the buffer.
    wire: Wire,
}

/// A text that differs from the lines of every crate.
const NO_CRATE: &str = "no crate";

impl TraceBatch {
    pub(crate) fn new(resource: &EncodedResource) -> Self {
        let mut writer = SpanWriter::default();
        let request = resource.begin(&mut writer.wire);
        TraceBatch {
            resource: resource.clone(),
            request,
            writer,
            spans: 0,
            crates: Vec::new(),
            callsite: None,
            lines: NO_CRATE,
            current: 0,
            first: None,
            others: Scopes::default(),
        }
    }

    /// Returns the number of spans in the batch.
    pub(crate) fn len(&self) -> usize {
        self.spans + self.others.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of the request so far.
    pub(crate) fn bytes(&self) -> usize {
        let crates: usize = self.crates.iter().map(|spans| spans.wire.len()).sum();
        self.writer.wire.len() + crates + self.others.bytes()
    }

    /// Returns the request and begins the next one in `buffer`, whose old content is discarded. The batch keeps its cache of
    /// labels.
    pub(crate) fn take(&mut self, buffer: Vec<u8>) -> Vec<u8> {
        self.first.into_iter().for_each(|first| self.select(first));
        for CrateSpans { lines, wire } in self.crates.iter_mut().filter(|spans| spans.wire.len() > 0) {
            self.request.next_scope(&mut self.writer.wire);
            resource::of_scope(&mut self.writer.wire, Of::Crate(scope_of(lines)), |request| request.push(&wire.bytes));
            wire.bytes.clear();
        }
        self.others.write(&mut self.request, &mut self.writer.wire);
        self.request.end(&mut self.writer.wire);
        let request = std::mem::replace(&mut self.writer.wire, Wire::reusing(buffer));
        self.request = self.resource.begin(&mut self.writer.wire);
        (self.spans, self.callsite, self.lines, self.first) = (0, None, NO_CRATE, None);
        request.bytes
    }

    /// Selects the scope of a crate for the next spans. Consecutive spans are usually of the same crate.
    #[inline]
    fn enter(&mut self, lines: &'static str) {
        if self.lines != lines {
            self.change_crate(lines);
        }
    }

    #[inline(never)]
    fn change_crate(&mut self, lines: &'static str) {
        self.callsite = None;
        let known = self.crates.iter().position(|spans| spans.lines == lines);
        let place = known.unwrap_or_else(|| {
            self.crates.push(CrateSpans { lines, wire: Wire::default() });
            self.crates.len() - 1
        });
        self.lines = lines;
        match self.first {
            Some(_) => self.select(place),
            None => {
                (self.first, self.current) = (Some(place), place);
                self.request.next_scope(&mut self.writer.wire);
                resource::of_scope(&mut self.writer.wire, Of::Crate(scope_of(lines)), |_| {});
            }
        }
    }

    /// Selects the scope of this callsite's crate for the next spans, and returns the callsite's name.
    #[inline]
    fn enter_callsite(&mut self, callsite: &'static Callsite) -> &'static str {
        match self.callsite {
            Some((known, name)) if std::ptr::eq(known, callsite) => name,
            _ => {
                self.enter(callsite.crate_lines());
                self.callsite = Some((callsite, callsite.name()));
                callsite.name()
            }
        }
    }

    /// Makes the writer use the buffer of a crate.
    fn select(&mut self, place: usize) {
        std::mem::swap(&mut self.writer.wire, &mut self.crates[self.current].wire);
        std::mem::swap(&mut self.writer.wire, &mut self.crates[place].wire);
        self.current = place;
    }

    /// Adds a recorded span.
    pub(crate) fn record(&mut self, record: &Record<'_>, converter: &Converter) {
        self.read(record, converter, Unchanged);
    }

    /// Adds a recorded span, with texts replaced by `redact`.
    pub(crate) fn redacted(&mut self, record: &Record<'_>, converter: &Converter, redact: &Redact) {
        self.read(record, converter, redact);
    }

    #[inline]
    fn read(&mut self, record: &Record<'_>, converter: &Converter, texts: impl Texts) {
        self.spans += 1;
        let callsite = record.callsite();
        let own_name = self.enter_callsite(callsite);
        let writer = &mut self.writer;
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
        let name = name.unwrap_or(own_name);
        let other = texts.instead("name", name);
        writer.end(span, other.as_deref().unwrap_or(name), record.outcome(), record.dropped());
    }

    /// Adds a span that is owned data: one of ours, or one of a third party.
    pub(crate) fn finished(&mut self, span: &FinishedSpan) {
        match &span.scope {
            Some(scope) => self.others.add(scope, span),
            None => {
                self.spans += 1;
                self.enter(span.crate_lines);
                write_span(&mut self.writer.wire, span);
            }
        }
    }
}

/// Replaces texts of a record while they are read.
trait Texts: Copy {
    /// True if no text is ever replaced.
    const KEEPS_ALL: bool = false;

    /// Returns the replacement of `text` under `name`; `None` keeps the text.
    fn instead(self, name: &str, text: &str) -> Option<String>;

    /// Like `instead`, for the text of a label. The text is passed as bytes, so that [`Unchanged`] needs no check for UTF-8.
    fn instead_of_label(self, name: &str, text: &[u8]) -> Option<String>;
}

/// Keeps all texts. Compiles to nothing.
#[derive(Clone, Copy)]
struct Unchanged;

impl Texts for Unchanged {
    const KEEPS_ALL: bool = true;

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

/// Writes the items of a record. Returns the name that was set at run time, if there is one, and whether the record has a
/// trace state or attributes that are shared by parent spans.
#[inline]
fn items(
    writer: &mut SpanWriter,
    record: &Record<'_>,
    converter: &Converter,
    texts: impl Texts,
) -> (Option<&'static str>, bool) {
    let (mut name, mut has_shared) = (None, false);
    // The event that is being written, and the number of its attributes that are left. They follow the event directly.
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
            Item::Propagated => has_shared = true,
            Item::Skip => {}
        }
    }
    event.into_iter().for_each(|(opened, _)| writer.end_event(opened));
    (name, has_shared)
}

/// Writes the trace state, and the attributes that parent spans share with this one and that it does not have itself. Few
/// records have these, so the function is not inlined.
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

/// Writes a recorded attribute.
#[inline(always)]
fn recorded(writer: &mut SpanWriter, key: &'static KeyMeta, value: Value<'_>, texts: impl Texts) {
    match value {
        Value::Absent => {}
        // Copied text was cut when it was recorded; static text is cut now.
        Value::Static(text) => attribute(writer, key.name, Value::Str(cut(text, limits::value_bytes())), texts),
        // A `bool` value is recorded as a label; under a key of type `bool` it is exported as a flag.
        Value::Label(ordinal) if key.value_type == ValueType::Bool => {
            writer.attribute(key.name, Value::Bool(ordinal != 0));
        }
        Value::Label(ordinal) => writer.label(key, ordinal, |text| texts.instead_of_label(key.name, text)),
        value => attribute(writer, key.name, value, texts),
    }
}

// Always inlined, like its callees: if the type of the value is known, little code remains.
#[inline(always)]
fn attribute(writer: &mut SpanWriter, name: &'static str, value: Value<'_>, texts: impl Texts) {
    match value {
        Value::Str(text) => match texts.instead(name, text) {
            None => writer.attribute(name, value),
            Some(other) => writer.attribute(name, Value::Str(&other)),
        },
        Value::Array(array) if array.of() == ValueType::Str => texts_attribute(writer, name, array, texts),
        value => writer.attribute(name, value),
    }
}

/// Writes a list of texts. Few spans have such a list, so the function is not inlined, which keeps the path of other
/// attributes short.
#[cold]
fn texts_attribute<T: Texts>(writer: &mut SpanWriter, name: &'static str, array: Array<'_>, texts: T) {
    if T::KEEPS_ALL {
        return writer.attribute(name, Value::Array(array));
    }
    let other = |element| match element {
        Element::Str(text) => texts.instead(name, text).unwrap_or_else(|| text.to_owned()),
        _ => String::new(),
    };
    writer.attribute(name, Value::Array(Array::of_vec(&array.iter().map(other).collect::<Vec<_>>())));
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use prost::Message;

    use super::*;
    use crate::declare::callsite::Kind;

    const CRATES: [&str; 3] = ["\nstore\n1.2.3", "\nstore\n1.2.4", "\ngateway\n0.1.0"];

    /// Returns the scopes of a request, each with the names of its spans.
    fn scopes(request: &[u8]) -> Vec<String> {
        let request = ExportTraceServiceRequest::decode(request).unwrap();
        let [resource] = <[_; 1]>::try_from(request.resource_spans).unwrap();
        assert_eq!(resource.resource.unwrap().attributes.len(), 1);
        let print = |spans: opentelemetry_proto::tonic::trace::v1::ScopeSpans| {
            let (scope, names) = (spans.scope.unwrap(), spans.spans.into_iter().map(|span| span.name));
            format!("{} {}: {}", scope.name, scope.version, names.collect::<Vec<_>>().join(" "))
        };
        resource.scope_spans.into_iter().map(print).collect()
    }

    fn add(batch: &mut TraceBatch, at: usize, name: &'static str) {
        let span = FinishedSpan { crate_lines: CRATES[at], ..FinishedSpan::new(name.into(), Kind::Internal) };
        batch.finished(&span);
    }

    /// A request contains each crate once, whatever the order of its spans, and the next request starts empty.
    #[test]
    fn spans_are_grouped_by_the_crate_that_declares_them() {
        let resource = EncodedResource::new(&[("service.name".to_owned(), "store".into())]);
        let mut batch = TraceBatch::new(&resource);
        assert_eq!(scopes(&batch.take(Vec::new())), [""; 0]);
        for (at, name) in [(0, "a"), (1, "b"), (0, "c"), (2, "d"), (2, "e"), (0, "f"), (1, "g")] {
            let before = batch.bytes();
            add(&mut batch, at, name);
            assert!(batch.bytes() > before);
        }
        assert_eq!(batch.len(), 7);
        assert_eq!(scopes(&batch.take(Vec::new())), ["store 1.2.3: a c f", "store 1.2.4: b g", "gateway 0.1.0: d e"]);
        add(&mut batch, 2, "h");
        assert_eq!(scopes(&batch.take(Vec::new())), ["gateway 0.1.0: h"]);
        add(&mut batch, 1, "i");
        batch.finished(&FinishedSpan::new("at run time".into(), Kind::Client));
        let own = format!("tracecast {}: at run time", env!("CARGO_PKG_VERSION"));
        assert_eq!(scopes(&batch.take(Vec::new())), ["store 1.2.4: i", &own]);
        assert_eq!(batch.len(), 0);
    }
}
