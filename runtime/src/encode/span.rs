//! Writes the parts of a span as they come.

use crate::declare::callsite::Kind;
use crate::declare::key::KeyMeta;
use crate::declare::value::Value;
use crate::encode::attribute::key_value;
use crate::encode::labels::Labels;
use crate::encode::wire::{Opened, Wire};
use crate::record::finished::{FinishedSpan, Outcome};

/// The attribute that says how a span ended that neither failed nor came to its end.
pub(crate) const OUTCOME_KEY: &str = "tc.outcome";
/// The key whose text is the message of the status.
pub(crate) const MESSAGE_KEY: &str = "error.message";
/// `STATUS_CODE_ERROR`.
pub(crate) const STATUS_ERROR: u8 = 2;

/// The span was sampled: others do not get here.
pub(crate) const FLAG_SAMPLED: u32 = 1;
/// Whether the parent is remote is known.
pub(crate) const FLAG_HAS_IS_REMOTE: u32 = 1 << 8;
pub(crate) const FLAG_IS_REMOTE: u32 = 1 << 9;

/// Where attributes go: the tag of the field, for a span and for an event.
const OF_SPAN: u8 = 9 << 3 | 2;
const OF_EVENT: u8 = 3 << 3 | 2;

/// What every span has.
pub(crate) struct Head {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    /// Zero for a root.
    pub(crate) parent_id: u64,
    pub(crate) parent_is_remote: bool,
    pub(crate) kind: Kind,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Head {
    pub(crate) fn of(span: &FinishedSpan) -> Self {
        Head {
            trace_id: span.trace_id.0,
            span_id: span.span_id.0,
            parent_id: span.parent_span_id.map_or(0, |id| id.0),
            parent_is_remote: span.parent_is_remote,
            kind: span.kind,
            start: span.start_unix_nanos,
            end: span.start_unix_nanos.saturating_add(span.duration.as_nanos() as u64),
        }
    }

    /// The flags of the trace, and whether the parent is remote.
    pub(crate) fn flags(&self) -> u32 {
        FLAG_SAMPLED | FLAG_HAS_IS_REMOTE | if self.parent_is_remote { FLAG_IS_REMOTE } else { 0 }
    }

    /// The number of the kind: 0 would be unspecified.
    pub(crate) fn kind(&self) -> u8 {
        self.kind as u8 + 1
    }
}

/// The flags of a link. Whether its span is remote is not recorded, so they do not say.
pub(crate) fn link_flags(sampled: bool) -> u32 {
    if sampled { FLAG_SAMPLED } else { 0 }
}

/// What the status of a failed span says if no error's message was recorded.
pub(crate) fn status_message(outcome: Outcome) -> &'static str {
    if outcome == Outcome::Panicked { "panicked" } else { "" }
}

#[derive(Debug)]
pub(crate) struct SpanWriter {
    pub(crate) wire: Wire,
    labels: Labels,
    /// The attributes of the span, and behind them those of the event that is being written.
    written: Vec<Written>,
    /// The field in which attributes go, and the first of `written` that is beside them.
    tag: u8,
    first: usize,
}

/// An attribute in the buffer.
#[derive(Clone, Copy, Debug)]
struct Written {
    name: &'static str,
    start: usize,
    end: usize,
    /// Bytes of its text, which are its last, or `NO_TEXT`.
    text: usize,
}

const NO_TEXT: usize = usize::MAX;

impl Default for SpanWriter {
    fn default() -> Self {
        SpanWriter { wire: Wire::default(), labels: Labels::default(), written: Vec::new(), tag: OF_SPAN, first: 0 }
    }
}

impl SpanWriter {
    /// Begins a span: all of known size is put together first and copied at once.
    #[inline]
    pub(crate) fn begin(&mut self, head: &Head) -> Opened {
        self.written.clear();
        let mut fixed = [0; 67];
        // The tag of a span in its scope; the two bytes behind it are room for the length.
        fixed[0] = 2 << 3 | 2;
        fixed[3..5].copy_from_slice(&[1 << 3 | 2, 16]);
        fixed[5..21].copy_from_slice(&head.trace_id.to_be_bytes());
        fixed[21..23].copy_from_slice(&[2 << 3 | 2, 8]);
        fixed[23..31].copy_from_slice(&head.span_id.to_be_bytes());
        fixed[31..33].copy_from_slice(&[6 << 3, head.kind()]);
        fixed[33] = 7 << 3 | 1;
        fixed[34..42].copy_from_slice(&head.start.to_le_bytes());
        fixed[42] = 8 << 3 | 1;
        fixed[43..51].copy_from_slice(&head.end.to_le_bytes());
        // Field 16 has a tag of two bytes.
        fixed[51..53].copy_from_slice(&[0x85, 0x01]);
        fixed[53..57].copy_from_slice(&head.flags().to_le_bytes());
        fixed[57..59].copy_from_slice(&[4 << 3 | 2, 8]);
        fixed[59..67].copy_from_slice(&head.parent_id.to_be_bytes());
        let opened = self.wire.opened_at(self.wire.len() + 3);
        self.wire.push(&fixed);
        if head.parent_id == 0 {
            self.wire.bytes.truncate(self.wire.len() - 10);
        }
        opened
    }

    /// Writes the state that the span's trace came with.
    pub(crate) fn trace_state(&mut self, state: &str) {
        self.wire.text_unless_empty(3, state);
    }

    /// Writes an attribute of the span, or of the event that was begun.
    #[inline]
    pub(crate) fn attribute(&mut self, name: &'static str, value: Value<'_>) {
        let start = self.wire.len();
        key_value(&mut self.wire, self.tag, name, value);
        let text = if let Value::Str(text) = value { text.len() } else { NO_TEXT };
        self.note(name, start, text);
    }

    /// Writes a label as an attribute.
    #[inline]
    pub(crate) fn label(&mut self, key: &'static KeyMeta, ordinal: usize) {
        let start = self.wire.len();
        let text = self.labels.write(&mut self.wire, self.tag, key, ordinal);
        self.note(key.name, start, text);
    }

    /// Writes an attribute if there is none of this name.
    pub(crate) fn attribute_unless_there(&mut self, name: &'static str, value: Value<'_>) {
        if self.find(name).is_none() {
            self.attribute(name, value);
        }
    }

    #[inline]
    fn find(&self, name: &str) -> Option<usize> {
        let at = self.written[self.first..].iter().position(|known| known.name == name)?;
        Some(self.first + at)
    }

    /// Notes an attribute that was written last. A key stands once: a later value takes the place of an earlier one.
    #[inline]
    fn note(&mut self, name: &'static str, start: usize, text: usize) {
        match self.find(name) {
            None => self.written.push(Written { name, start, end: self.wire.len(), text }),
            Some(earlier) => self.replace(earlier, start, text),
        }
    }

    #[cold]
    fn replace(&mut self, earlier: usize, start: usize, text: usize) {
        let (old, len) = (self.written[earlier], self.wire.len() - start);
        let old_len = old.end - old.start;
        self.wire.bytes[old.start..].rotate_right(len);
        self.wire.bytes.drain(old.start + len..old.start + len + old_len);
        self.written[earlier] = Written { end: old.start + len, text, ..old };
        for later in &mut self.written[earlier + 1..] {
            later.start = later.start - old_len + len;
            later.end = later.end - old_len + len;
        }
    }

    /// Begins an event; attributes are its own until it ends.
    pub(crate) fn begin_event(&mut self, unix_nanos: u64, name: &str) -> Opened {
        let opened = self.wire.open(11);
        self.wire.fixed(1, unix_nanos);
        self.wire.text(2, name);
        (self.tag, self.first) = (OF_EVENT, self.written.len());
        opened
    }

    pub(crate) fn end_event(&mut self, opened: Opened) {
        self.wire.close(opened);
        self.written.truncate(self.first);
        (self.tag, self.first) = (OF_SPAN, 0);
    }

    pub(crate) fn link(&mut self, trace_id: u128, span_id: u64, sampled: bool) {
        self.wire.nested(13, |wire| {
            wire.field_of_bytes(1, &trace_id.to_be_bytes());
            wire.field_of_bytes(2, &span_id.to_be_bytes());
            wire.push(&[6 << 3 | 5]);
            wire.push(&link_flags(sampled).to_le_bytes());
        });
    }

    /// Ends a span; `dropped` are attributes, events and links.
    #[inline]
    pub(crate) fn end(&mut self, span: Opened, name: &str, outcome: Outcome, dropped: [u32; 3]) {
        self.wire.text(5, name);
        if outcome != Outcome::Ok || dropped != [0; 3] {
            self.special(outcome, dropped);
        }
        self.wire.close(span);
    }

    /// What most spans do not have.
    #[cold]
    fn special(&mut self, outcome: Outcome, dropped: [u32; 3]) {
        for (field, count) in [10, 12, 14].into_iter().zip(dropped) {
            if count > 0 {
                self.wire.number(field, u64::from(count));
            }
        }
        if outcome == Outcome::Cancelled {
            self.attribute_unless_there(OUTCOME_KEY, Value::Str(outcome.as_str()));
        }
        if outcome.is_error() {
            let message = self.find(MESSAGE_KEY).map(|at| self.written[at]).filter(|message| message.text != NO_TEXT);
            let message = message.map(|message| message.end - message.text..message.end);
            self.wire.nested(15, |wire| {
                match message {
                    Some(range) => wire.text_again(2, range),
                    None => wire.text_unless_empty(2, status_message(outcome)),
                }
                wire.number(3, u64::from(STATUS_ERROR));
            });
        }
    }
}
