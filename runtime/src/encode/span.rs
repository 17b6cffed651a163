//! Writes a span in parts, in the order in which the items of its record are read.

use crate::declare::callsite::Kind;
use crate::declare::key::KeyMeta;
use crate::declare::value::Value;
use crate::encode::attribute::key_value;
use crate::encode::labels::Labels;
use crate::encode::wire::{Opened, Wire};
use crate::record::finished::Outcome;

/// The attribute for the outcome of a cancelled span.
pub(crate) const OUTCOME_KEY: &str = "tc.outcome";
/// The attribute whose text becomes the status message.
pub(crate) const MESSAGE_KEY: &str = "error.message";
/// `STATUS_CODE_OK`.
pub(crate) const STATUS_OK: u8 = 1;
/// `STATUS_CODE_ERROR`.
pub(crate) const STATUS_ERROR: u8 = 2;

const FLAG_SAMPLED: u32 = 1;
/// Set if `FLAG_IS_REMOTE` is valid, because it is known where the parent or the linked span was created.
const FLAG_HAS_IS_REMOTE: u32 = 1 << 8;
const FLAG_IS_REMOTE: u32 = 1 << 9;

/// The tags of the attributes field in a span and in an event.
const OF_SPAN: u8 = 9 << 3 | 2;
const OF_EVENT: u8 = 3 << 3 | 2;

/// The fields that every span has.
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
    /// The OTLP number of the kind; 0 means unspecified.
    fn kind(&self) -> u8 {
        self.kind as u8 + 1
    }
}

/// Returns the flags of a span or a link: whether the trace is sampled, and whether the parent or the linked span is
/// remote, if that is known.
#[inline]
pub(crate) fn flags(sampled: bool, is_remote: Option<bool>) -> u32 {
    let remote = match is_remote {
        Some(true) => FLAG_HAS_IS_REMOTE | FLAG_IS_REMOTE,
        Some(false) => FLAG_HAS_IS_REMOTE,
        None => 0,
    };
    remote | if sampled { FLAG_SAMPLED } else { 0 }
}

/// Returns the status message of a failed span without a recorded error message: `panicked`, or an empty text.
pub(crate) fn status_message(outcome: Outcome) -> &'static str {
    if outcome == Outcome::Panicked { "panicked" } else { "" }
}

#[derive(Debug)]
pub(crate) struct SpanWriter {
    pub(crate) wire: Wire,
    labels: Labels,
    /// The attributes of the span, followed by those of the open event.
    written: Vec<Written>,
    /// The tag of the next attribute, and the index of the first attribute of the same span or event in `written`.
    tag: u8,
    first: usize,
}

/// An attribute in the buffer.
#[derive(Clone, Copy, Debug)]
struct Written {
    name: &'static str,
    start: usize,
    end: usize,
    /// The length of its text, which is at the end of the attribute, or `NO_TEXT`.
    text: usize,
}

const NO_TEXT: usize = usize::MAX;

impl Default for SpanWriter {
    fn default() -> Self {
        SpanWriter { wire: Wire::default(), labels: Labels::default(), written: Vec::new(), tag: OF_SPAN, first: 0 }
    }
}

impl SpanWriter {
    /// Begins a span. Fields of known size are assembled first and copied at once.
    #[inline]
    pub(crate) fn begin(&mut self, head: &Head) -> Opened {
        self.written.clear();
        let mut fixed = [0; 67];
        // The tag of a span in its scope. The next two bytes are reserved for the length.
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
        // Field 16 has a two-byte tag.
        fixed[51..53].copy_from_slice(&[0x85, 0x01]);
        fixed[53..57].copy_from_slice(&flags(true, Some(head.parent_is_remote)).to_le_bytes());
        fixed[57..59].copy_from_slice(&[4 << 3 | 2, 8]);
        fixed[59..67].copy_from_slice(&head.parent_id.to_be_bytes());
        let opened = self.wire.opened_at(self.wire.len() + 3);
        self.wire.push(&fixed);
        if head.parent_id == 0 {
            self.wire.bytes.truncate(self.wire.len() - 10);
        }
        opened
    }

    /// Writes the `tracestate` of the span's trace.
    pub(crate) fn trace_state(&mut self, state: &str) {
        self.wire.text_unless_empty(3, state);
    }

    /// Writes an attribute of the span, or of the open event.
    #[inline(always)]
    pub(crate) fn attribute(&mut self, name: &'static str, value: Value<'_>) {
        let start = self.wire.len();
        key_value(&mut self.wire, self.tag, name, value);
        let text = if let Value::Str(text) = value { text.len() } else { NO_TEXT };
        self.note(name, start, text);
    }

    /// Writes a label as an attribute. `instead` may return a replacement for its text.
    #[inline]
    pub(crate) fn label(
        &mut self,
        key: &'static KeyMeta,
        ordinal: usize,
        instead: impl FnOnce(&[u8]) -> Option<String>,
    ) {
        let start = self.wire.len();
        let text = self.labels.write(&mut self.wire, self.tag, key, ordinal);
        if let Some(other) = instead(self.wire.bytes.get(self.wire.len() - text..).unwrap_or_default()) {
            self.wire.bytes.truncate(start);
            return self.attribute(key.name, Value::Str(&other));
        }
        self.note(key.name, start, text);
    }

    /// Returns whether the span, or the open event, has an attribute with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    #[inline]
    fn find(&self, name: &str) -> Option<usize> {
        let at = self.written[self.first..].iter().position(|known| known.name == name)?;
        Some(self.first + at)
    }

    /// Registers the attribute that was just written. If the span or event already has its key, the new value replaces the
    /// old one.
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

    /// Begins an event. Attributes that are written before `end_event` belong to the event.
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
            wire.push(&flags(sampled, None).to_le_bytes());
        });
    }

    /// Ends a span. `dropped` has the numbers of dropped attributes, events and links.
    #[inline]
    pub(crate) fn end(&mut self, span: Opened, name: &str, outcome: Outcome, dropped: [u32; 3]) {
        self.wire.text(5, name);
        if outcome != Outcome::Ok || dropped != [0; 3] {
            self.special(outcome, dropped);
        }
        self.wire.close(span);
    }

    /// Writes the fields that most spans do not have: numbers of dropped items, the outcome of a cancelled span, and the
    /// status of a failed span.
    #[cold]
    fn special(&mut self, outcome: Outcome, dropped: [u32; 3]) {
        for (field, count) in [10, 12, 14].into_iter().zip(dropped) {
            self.wire.number_unless_zero(field, count);
        }
        if outcome == Outcome::Cancelled && !self.has(OUTCOME_KEY) {
            self.attribute(OUTCOME_KEY, Value::Str(outcome.as_str()));
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
