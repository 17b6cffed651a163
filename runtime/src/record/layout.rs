//! The layout of a finished span in a chunk: eight words of header, then items.
//!
//! ```text
//! 0  words of the record (16 bits), outcome (8), flags (8), dropped attributes (16), events (8), links (8)
//! 1  trace id, upper half      3  span id       5  start      7  callsite
//! 2  trace id, lower half      4  parent id     6  end        8.. items
//! ```

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::base::word::Word;
use crate::declare::callsite::Callsite;
use crate::declare::key::{Key, KeyMeta, ValueType};
use crate::declare::keys::uncertain_times;
use crate::declare::value::{OwnedValue, Value, cut};
use crate::record::block::{Block, REMOTE_PARENT, UNIX_TIMES};
use crate::record::clock::Converter;
use crate::record::finished::{Attribute, Event, FinishedSpan, Link, Outcome};
use crate::record::ids::{SpanId, TraceId};
use crate::record::item::{Item, Items};
use crate::record::limits;
use crate::record::propagated::Propagated;

pub(crate) const HEADER_WORDS: usize = 8;

const FLAG_UNIX_TIMES: u64 = 1;
const FLAG_REMOTE_PARENT: u64 = 2;
/// The last item is propagated state.
const FLAG_PROPAGATED: u64 = 4;

/// Returns the header of a record of `words` words, for an ordinary span without flags.
#[inline(always)]
pub(crate) fn plain_header(block: &Block, words: usize, end: u64) -> [Word; HEADER_WORDS] {
    header_with(block, words as u64, end)
}

/// Returns the header of any record.
pub(crate) fn header(
    block: &Block,
    words: usize,
    end: u64,
    outcome: Outcome,
    propagated: bool,
) -> [Word; HEADER_WORDS] {
    let mut meta = words as u64 | (outcome as u64) << 16;
    meta |= (u64::from(propagated) * FLAG_PROPAGATED) << 24;
    meta |= (u64::from(block.has(UNIX_TIMES)) * FLAG_UNIX_TIMES) << 24;
    meta |= (u64::from(block.has(REMOTE_PARENT)) * FLAG_REMOTE_PARENT) << 24;
    let counts = &block.counts;
    meta |= u64::from(counts.dropped_attributes.get()) << 32;
    meta |= u64::from(counts.dropped_events.get().min(255)) << 48;
    meta |= u64::from(counts.dropped_links.get().min(255)) << 56;
    header_with(block, meta, end)
}

#[inline(always)]
fn header_with(block: &Block, meta: u64, end: u64) -> [Word; HEADER_WORDS] {
    let trace_id = block.trace_id.get();
    [
        Word::bits(meta),
        Word::bits(trace_id[0]),
        Word::bits(trace_id[1]),
        Word::bits(block.span_id.get()),
        Word::bits(block.parent_id.get()),
        Word::bits(block.start.get()),
        Word::bits(end),
        Word::ptr(std::ptr::from_ref(block.callsite.get())),
    ]
}

/// A record, borrowed from its chunk.
pub(crate) struct Record<'a> {
    header: &'a [Word; HEADER_WORDS],
    items: &'a [Word],
}

impl<'a> Record<'a> {
    /// Returns the first record of `words`, and the rest; `None` if `words` holds no whole record.
    ///
    /// # Safety
    /// The words must be whole records, each a `header` followed by items in the format of `Items`.
    pub(crate) unsafe fn split(words: &'a [Word]) -> Option<(Self, &'a [Word])> {
        let header = words.first_chunk::<HEADER_WORDS>()?;
        // SAFETY: the first word of a header is bits.
        let len = unsafe { header[0].as_bits() } as usize & 0xffff;
        let (record, rest) = words.split_at_checked(len.max(HEADER_WORDS))?;
        Some((Record { header, items: &record[HEADER_WORDS..] }, rest))
    }

    fn bits(&self, at: usize) -> u64 {
        // SAFETY: all words of a header except the last are bits.
        unsafe { self.header[at].as_bits() }
    }

    pub(crate) fn callsite(&self) -> &'static Callsite {
        // SAFETY: `header` stored the address of a `&'static Callsite` there.
        unsafe { &*self.header[7].as_ptr().cast::<Callsite>() }
    }

    pub(crate) fn items(&self) -> Items<'a> {
        // SAFETY: `split`'s contract.
        unsafe { Items::new(self.items) }
    }

    pub(crate) fn trace_id(&self) -> u128 {
        (u128::from(self.bits(1)) << 64) | u128::from(self.bits(2))
    }

    pub(crate) fn span_id(&self) -> u64 {
        self.bits(3)
    }

    /// Returns the span id of the parent; zero for a root.
    pub(crate) fn parent_id(&self) -> u64 {
        self.bits(4)
    }

    pub(crate) fn parent_is_remote(&self) -> bool {
        self.bits(0) >> 24 & FLAG_REMOTE_PARENT != 0
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::from_bits((self.bits(0) >> 16) as u8)
    }

    /// Returns the numbers of attributes, events and links that were dropped because of a limit.
    pub(crate) fn dropped(&self) -> [u32; 3] {
        let meta = self.bits(0);
        [u32::from((meta >> 32) as u16), u32::from((meta >> 48) as u8), u32::from((meta >> 56) as u8)]
    }

    /// Returns the inherited keys and the `tracestate` of the record's trace. Must not be called after `release`.
    pub(crate) fn shared(&self) -> (&[(&'static KeyMeta, OwnedValue)], &str) {
        // SAFETY: the record owns a count of this `Arc<Propagated>` until `release`.
        let propagated = self.propagated().map(|propagated| unsafe { &*propagated.cast::<Propagated>() });
        propagated.map_or((&[], ""), |propagated| (&propagated.shared, propagated.state.as_str()))
    }

    /// Returns the address of the propagated state; `None` if the record has none, as is the case for most.
    #[inline]
    fn propagated(&self) -> Option<*const ()> {
        let has_it = self.bits(0) >> 24 & FLAG_PROPAGATED != 0;
        // SAFETY: the last word of propagated state is a pointer, and the flag shows that it is the last item.
        self.items.last().filter(|_| has_it).map(|address| unsafe { address.as_ptr() })
    }

    /// Releases the record's reference to propagated state. Call it once, after reading the record.
    #[inline]
    pub(crate) fn release(&self) {
        if let Some(propagated) = self.propagated() {
            // SAFETY: the record took over one count of the `Arc` when it was written.
            drop(unsafe { Arc::from_raw(propagated.cast::<Propagated>()) });
        }
    }

    /// Converts the record to plain data, with its times converted by `converter`.
    pub(crate) fn finish(&self, converter: &Converter) -> FinishedSpan {
        let callsite = self.callsite();
        let [dropped_attributes, dropped_events, dropped_links] = self.dropped();
        let (start, duration) = self.times(converter);
        let mut span = FinishedSpan {
            trace_id: TraceId(self.trace_id()),
            span_id: SpanId(self.span_id()),
            parent_span_id: Some(SpanId(self.parent_id())).filter(|id| id.is_valid()),
            parent_is_remote: self.parent_is_remote(),
            start_unix_nanos: start,
            duration,
            outcome: self.outcome(),
            dropped_attributes,
            dropped_events,
            dropped_links,
            ..FinishedSpan::of(callsite)
        };
        self.fill(&mut span, converter);
        span
    }

    /// Returns the start in nanoseconds since 1970, and the duration.
    pub(crate) fn times(&self, converter: &Converter) -> (u64, Duration) {
        let (start, end) = (self.bits(5), self.bits(6));
        let took = end.saturating_sub(start);
        if self.bits(0) >> 24 & FLAG_UNIX_TIMES != 0 {
            return (start, Duration::from_nanos(took));
        }
        (converter.unix_nanos(start), Duration::from_nanos(converter.nanos(start, end)))
    }

    /// Returns whether the counter jumped near the start or end of the span, so that its times may be wrong.
    pub(crate) fn has_uncertain_times(&self, converter: &Converter) -> bool {
        self.bits(0) >> 24 & FLAG_UNIX_TIMES == 0
            && (converter.is_uncertain(self.bits(5)) || converter.is_uncertain(self.bits(6)))
    }

    fn fill(&self, span: &mut FinishedSpan, converter: &Converter) {
        let mut of_event = 0_u32;
        for item in self.items() {
            match item {
                Item::Attribute(key, value) => {
                    let Some(value) = owned(key, value) else { continue };
                    let event = span.events.last_mut().filter(|_| of_event > 0);
                    of_event = of_event.saturating_sub(1);
                    insert(event.map_or(&mut span.attributes, |event| &mut event.attributes), key, value);
                }
                Item::Event { time, name, attributes } => {
                    of_event = attributes;
                    span.events.push(Event {
                        name: Cow::Borrowed(name),
                        unix_nanos: converter.unix_nanos(time),
                        attributes: Vec::new(),
                        dropped_attributes: 0,
                    });
                }
                Item::Link { trace_id, span_id, flags } => {
                    span.links.push(Link {
                        trace_id: TraceId(trace_id),
                        span_id: SpanId(span_id),
                        sampled: flags & 1 != 0,
                        ..Link::default()
                    });
                }
                Item::Name(name) => span.name = Cow::Borrowed(name),
                Item::Propagated | Item::Skip => {}
            }
        }
        if self.has_uncertain_times(converter) {
            span.attributes.push(attribute(uncertain_times::META, OwnedValue::Bool(true)));
        }
        let (shared, state) = self.shared();
        state.clone_into(&mut span.trace_state);
        for (key, value) in shared {
            if span.attribute(key.name).is_none() {
                span.attributes.push(attribute(key, value.clone()));
            }
        }
    }
}

/// Inserts an attribute; an earlier value of the key is replaced.
fn insert(attributes: &mut Vec<Attribute>, key: &'static KeyMeta, value: OwnedValue) {
    match attributes.iter_mut().find(|known| known.key == key.name) {
        Some(known) => known.value = value,
        None => attributes.push(attribute(key, value)),
    }
}

pub(crate) fn attribute(key: &'static KeyMeta, value: OwnedValue) -> Attribute {
    Attribute { key: Cow::Borrowed(key.name), value }
}

pub(crate) fn owned(key: &'static KeyMeta, value: Value<'_>) -> Option<OwnedValue> {
    match value {
        // Copied texts were cut when they were recorded; static texts are cut here.
        Value::Static(text) => Value::Static(cut(text, limits::value_bytes())).into_owned(),
        // A `bool` is encoded as a label for keys that are labels, and as a flag for others.
        Value::Label(ordinal) if key.value_type == ValueType::Bool => Some(OwnedValue::Bool(ordinal != 0)),
        Value::Label(ordinal) => Some(OwnedValue::Str(key.label_text(ordinal))),
        value => value.into_owned(),
    }
}
