//! Writing attributes, events and links into an open span, within its limits.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use crate::block::{BlockRef, CHAINED, TAIL_WORDS, count};
use crate::clock;
use crate::item::{
    Item, Items, TAG_BOOL, TAG_END, TAG_EVENT, TAG_F64, TAG_I64, TAG_LABEL, TAG_LINK, TAG_NAME, TAG_SKIP, TAG_STATIC,
    TAG_TEXT, TAG_U64, keyed, tagged,
};
use crate::key::KeyMeta;
use crate::limits;
use crate::local::{self, MAX_ITEM_WORDS};
use crate::table::Table;
use crate::value::{Value, cut};
use crate::word::{Word, words_for};

/// How far a block is filled, and how far it may be before somebody has to look at the limits.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    used: u32,
    attributes: u16,
    bound: u16,
}

impl Filled {
    #[inline(always)]
    pub(crate) fn of(block: BlockRef) -> Self {
        // As many attributes as fit into a block are within the limit, unless that is a very low one.
        let lax = limits::CURRENT.attributes.load(Relaxed) as usize > TAIL_WORDS / 2;
        let bound = if lax { TAIL_WORDS as u16 } else { 0 };
        Filled { used: block.counts.used.get().into(), attributes: block.counts.attributes.get(), bound }
    }

    #[inline(always)]
    pub(crate) fn store(self, block: BlockRef) {
        block.counts.used.set(self.used as u16);
        block.counts.attributes.set(self.attributes);
    }
}

/// Records an attribute, without a look at what is there already, and says how far the block is filled then.
///
/// The slow ways take what is in registers anyway, and not the `Value`, which would have to be in memory for them.
#[inline(always)]
pub(crate) fn attribute_at(block: BlockRef, filled: Filled, key: &'static KeyMeta, value: Value<'_>) -> Filled {
    match value {
        Value::Absent => filled,
        Value::U64(number) => number_at(block, filled, key, TAG_U64, number),
        Value::I64(number) => number_at(block, filled, key, TAG_I64, number as u64),
        Value::F64(number) => number_at(block, filled, key, TAG_F64, number.to_bits()),
        Value::Bool(flag) => number_at(block, filled, key, TAG_BOOL, u64::from(flag)),
        Value::Label(ordinal) => number_at(block, filled, key, TAG_LABEL, ordinal as u64),
        Value::Static(text) => static_at(block, filled, key, text),
        Value::Str(text) => text_at(block, filled, key, text),
    }
}

#[inline(always)]
fn number_at(block: BlockRef, filled: Filled, key: &'static KeyMeta, tag: usize, bits: u64) -> Filled {
    if filled.used + 2 > u32::from(filled.bound) {
        return number_slowly(block, filled, key, tag, bits);
    }
    // SAFETY: two words fit, and nobody holds a reference into the tail.
    unsafe {
        let place = block.place(filled.used as usize);
        place.write(keyed(key, tag));
        place.add(1).write(Word::bits(bits));
    }
    Filled { used: filled.used + 2, attributes: filled.attributes + 1, ..filled }
}

#[inline(always)]
fn static_at(block: BlockRef, filled: Filled, key: &'static KeyMeta, text: &'static str) -> Filled {
    if filled.used + 3 > u32::from(filled.bound) {
        return static_slowly(block, filled, key, text);
    }
    // SAFETY: three words fit, and nobody holds a reference into the tail.
    unsafe {
        let place = block.place(filled.used as usize);
        place.write(keyed(key, TAG_STATIC));
        place.add(1).write(Word::ptr(text.as_ptr()));
        place.add(2).write(Word::bits(text.len() as u64));
    }
    Filled { used: filled.used + 3, attributes: filled.attributes + 1, ..filled }
}

#[inline(never)]
fn text_at(block: BlockRef, filled: Filled, key: &'static KeyMeta, text: &str) -> Filled {
    filled.store(block);
    attribute(block, key, Value::Str(text));
    Filled::of(block)
}

#[cold]
#[inline(never)]
fn number_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, tag: usize, bits: u64) -> Filled {
    filled.store(block);
    attribute_by(block, || append(block, [keyed(key, tag), Word::bits(bits)], &[]));
    Filled::of(block)
}

#[cold]
#[inline(never)]
fn static_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, text: &'static str) -> Filled {
    filled.store(block);
    attribute(block, key, Value::Static(text));
    Filled::of(block)
}

/// Records an attribute, without a look at what is there already.
pub(crate) fn attribute(block: BlockRef, key: &'static KeyMeta, value: Value<'_>) {
    if !matches!(value, Value::Absent) {
        attribute_by(block, || write(block, key, value));
    }
}

/// Counts an attribute that `write` writes, or that is left out.
fn attribute_by(block: BlockRef, write: impl FnOnce() -> bool) {
    let attributes = block.counts.attributes.get();
    if u32::from(attributes) >= limits::CURRENT.attributes.load(Relaxed) || !write() {
        return block.count_dropped(&block.counts.dropped_attributes);
    }
    block.counts.attributes.set(attributes + 1);
}

/// Records an attribute in the place of an earlier one of the same key, so that setting it often costs no room for more.
pub(crate) fn set(block: BlockRef, key: &'static KeyMeta, value: Value<'_>) {
    forget(block, key);
    attribute(block, key, value);
}

fn write(block: BlockRef, key: &'static KeyMeta, value: Value<'_>) -> bool {
    match value {
        Value::Absent => true,
        Value::U64(number) => append_pair(block, key, TAG_U64, number),
        Value::I64(number) => append_pair(block, key, TAG_I64, number as u64),
        Value::F64(number) => append_pair(block, key, TAG_F64, number.to_bits()),
        Value::Bool(flag) => append_pair(block, key, TAG_BOOL, u64::from(flag)),
        Value::Label(ordinal) => append_pair(block, key, TAG_LABEL, ordinal as u64),
        Value::Static(text) => {
            append(block, [keyed(key, TAG_STATIC), Word::ptr(text.as_ptr()), Word::bits(text.len() as u64)], &[])
        }
        Value::Str(text) => {
            let bytes = cut(text, limits::value_bytes()).as_bytes();
            append(block, [keyed(key, TAG_TEXT), Word::bits(bytes.len() as u64)], bytes)
        }
    }
}

fn append_pair(block: BlockRef, key: &'static KeyMeta, tag: usize, bits: u64) -> bool {
    append(block, [keyed(key, tag), Word::bits(bits)], &[])
}

/// Appends to the block, or to those chained to it. One that has outgrown its block has filled it to the last word, so
/// nothing is put in front of what is chained.
fn append<const N: usize>(block: BlockRef, head: [Word; N], bytes: &[u8]) -> bool {
    let fits = if bytes.is_empty() { block.append(head) } else { block.append_bytes(head, bytes) };
    fits || append_slowly(block, &head, bytes)
}

/// Appends to a span that outgrows its block: the words go on in chained ones.
#[cold]
fn append_slowly(block: BlockRef, head: &[Word], bytes: &[u8]) -> bool {
    let words = head.len() + words_for(bytes.len());
    let counts = &block.counts;
    if usize::from(counts.used.get()) + usize::from(counts.chained.get()) + words > MAX_ITEM_WORDS {
        return false;
    }
    let Some(mut last) = with_room(block, words) else { return false };
    let padded = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        Word::bits(u64::from_ne_bytes(word))
    });
    for word in head.iter().copied().chain(padded) {
        if !last.append([word]) {
            let Some(next) = last.chain.get() else { return false };
            last = next;
            last.append([word]);
        }
        if last != block {
            count(&block.counts.chained);
        }
    }
    true
}

/// The last block of the chain, once as many are chained to it as `words` more words need.
fn with_room(block: BlockRef, words: usize) -> Option<BlockRef> {
    let mut last = block;
    while let Some(next) = last.chain.get() {
        last = next;
    }
    let here = last;
    let mut room = TAIL_WORDS - usize::from(last.counts.used.get());
    while room < words {
        let next = local::with(|local| local.acquire())?;
        next.flags.set(0);
        next.chain.set(None);
        last.chain.set(Some(next));
        block.raise(CHAINED);
        room += TAIL_WORDS;
        last = next;
    }
    // An earlier call may have chained blocks and then found none for the rest: those are empty and come next.
    Some(here)
}

/// Blanks the attribute with this key in the first block's tail, if it is there and whole.
fn forget(block: BlockRef, key: &'static KeyMeta) {
    let mut at = 0;
    let mut in_event = false;
    // SAFETY: the tail was written by this module, and nothing is appended until the loop has ended.
    let mut items = unsafe { Items::new(block.tail()) };
    let found = loop {
        match items.next_sized() {
            None => return,
            Some((Item::Attribute(known, _), words)) if !in_event && std::ptr::eq(known, key) => break (at, words),
            Some((item, words)) => {
                in_event = matches!(item, Item::Event { .. }) || in_event && !matches!(item, Item::EndOfEvent);
                at += words;
            }
        }
    };
    block.overwrite(found.0, tagged(TAG_SKIP));
    block.overwrite(found.0 + 1, Word::bits(found.1 as u64));
    block.counts.attributes.set(block.counts.attributes.get().saturating_sub(1));
}

/// Records an event that happens now; `attributes` writes what belongs to it.
pub(crate) fn event(block: BlockRef, name: &'static str, attributes: impl FnOnce(&mut EventFields)) {
    let head = [tagged(TAG_EVENT), Word::bits(clock::now()), Word::ptr(name.as_ptr()), Word::bits(name.len() as u64)];
    let full = u32::from(block.counts.events.get()) >= limits::CURRENT.events.load(Relaxed);
    if full || !append(block, head, &[]) {
        return block.count_dropped(&block.counts.dropped_events);
    }
    count(&block.counts.events);
    attributes(&mut EventFields { block, written: 0 });
    append(block, [tagged(TAG_END)], &[]);
}

/// Writes the attributes of one event.
pub(crate) struct EventFields {
    block: BlockRef,
    written: u32,
}

impl EventFields {
    pub(crate) fn attribute(&mut self, key: &'static KeyMeta, value: Value<'_>) {
        let full = self.written >= limits::CURRENT.attributes_per_event.load(Relaxed);
        if full || !write(self.block, key, value) {
            return self.block.count_dropped(&self.block.counts.dropped_attributes);
        }
        self.written += 1;
    }
}

/// Records a link.
pub(crate) fn link(block: BlockRef, trace_id: u128, span_id: u64, sampled: bool) {
    let words = [
        tagged(TAG_LINK),
        Word::bits((trace_id >> 64) as u64),
        Word::bits(trace_id as u64),
        Word::bits(span_id),
        Word::bits(u64::from(sampled)),
    ];
    let full = u32::from(block.counts.links.get()) >= limits::CURRENT.links.load(Relaxed);
    if full || !append(block, words, &[]) {
        return block.count_dropped(&block.counts.dropped_links);
    }
    count(&block.counts.links);
}

/// Names learnt at run time; there are only so many.
static NAMES: Table<()> = Table::new(1024);

/// Gives the span a name that was made at run time. Past the cap of 1,024 different ones the callsite's own stands.
pub(crate) fn name(block: BlockRef, name: &str) {
    let known = NAMES.resolve(name, |_| ()).and_then(|ordinal| NAMES.get(ordinal));
    if let Some((name, ())) = known {
        append(block, [tagged(TAG_NAME), Word::ptr(name.as_ptr()), Word::bits(name.len() as u64)], &[]);
    }
}

/// The text that a key with an open value was given, for those that keep it outside of a span.
pub(crate) fn bounded(text: &str) -> Cow<'static, str> {
    Cow::Owned(cut(text, limits::value_bytes()).to_owned())
}
