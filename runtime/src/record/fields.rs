//! Writes attributes, events and links into an open span, within its limits.

use std::sync::atomic::Ordering::Relaxed;

use crate::base::table::Table;
use crate::base::word::{Word, words_for};
use crate::declare::array::{Array, Element, Packer};
use crate::declare::key::{KeyMeta, ValueType};
use crate::declare::value::{Value, cut, formatted};
use crate::record::block::{BlockRef, TAIL_WORDS, count};
use crate::record::clock;
use crate::record::item::{
    self, TAG_BLANK, TAG_BOOL, TAG_EVENT, TAG_F64, TAG_I64, TAG_LABEL, TAG_LINK, TAG_LIST, TAG_NAME, TAG_SKIP,
    TAG_STATIC, TAG_TEXT, TAG_U64, keyed, tagged,
};
use crate::record::limits::{self, LIST_BYTES, LIST_ELEMENTS, LIST_TEXT_BYTES};
use crate::record::local;
use crate::record::tail;

/// The fill level of a block.
///
/// Exactly two numbers, which a function returns in two registers. Three would be packed, and every attribute would have to
/// unpack them.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    used: u32,
    attributes: u32,
}

impl Filled {
    /// The fill level of a newly opened block. Its counts are known to be zero, so no load is needed.
    pub(crate) const EMPTY: Self = Filled { used: 0, attributes: 0 };

    #[inline(always)]
    pub(crate) fn of(block: BlockRef) -> Self {
        Filled { used: block.counts.used.get().into(), attributes: block.counts.attributes.get().into() }
    }

    #[inline(always)]
    pub(crate) fn store(self, block: BlockRef) {
        block.counts.used.set(self.used as u16);
        block.counts.attributes.set(self.attributes as u16);
    }
}

/// Returns the fill level, in words, up to which the limits need not be checked; 0 if they always have to be checked.
#[inline(always)]
pub(crate) fn bound() -> u32 {
    // Unless the limit is very low, a block has no room for more attributes than the limit allows.
    let lax = limits::CURRENT.attributes.load(Relaxed) as usize > TAIL_WORDS / 2;
    if lax { TAIL_WORDS as u32 } else { 0 }
}

/// Records an attribute without searching for an earlier value, and returns the new fill level.
///
/// The slow paths take values that are in registers anyway instead of the `Value`, which would have to be stored in memory for
/// them.
#[inline(always)]
pub(crate) fn attribute_at(
    block: BlockRef,
    filled: Filled,
    bound: u32,
    key: &'static KeyMeta,
    value: Value<'_>,
) -> Filled {
    let number = |tag, bits| number_at(block, filled, bound, key, tag, bits);
    match value {
        Value::Absent => filled,
        Value::U64(value) => number(TAG_U64, value),
        Value::I64(value) => number(TAG_I64, value as u64),
        Value::F64(value) => number(TAG_F64, value.to_bits()),
        Value::Bool(flag) => number(TAG_BOOL, u64::from(flag)),
        Value::Label(ordinal) => number(TAG_LABEL, ordinal as u64),
        Value::Static(text) => static_at(block, filled, bound, key, text),
        Value::Str(text) => text_at(block, filled, bound, key, text),
        Value::Array(array) => array_slowly(block, filled, key, array),
    }
}

#[inline(always)]
fn number_at(block: BlockRef, filled: Filled, bound: u32, key: &'static KeyMeta, tag: usize, bits: u64) -> Filled {
    if filled.used + 2 > bound {
        return number_slowly(block, filled, key, tag, bits);
    }
    // SAFETY: two words fit, and no reference into the tail exists.
    unsafe {
        let place = block.place(filled.used as usize);
        place.write(keyed(key, tag));
        place.add(1).write(Word::bits(bits));
    }
    Filled { used: filled.used + 2, attributes: filled.attributes + 1 }
}

#[inline(always)]
fn static_at(block: BlockRef, filled: Filled, bound: u32, key: &'static KeyMeta, text: &'static str) -> Filled {
    if filled.used + 3 > bound {
        return static_slowly(block, filled, key, text);
    }
    // SAFETY: three words fit, and no reference into the tail exists.
    unsafe {
        let place = block.place(filled.used as usize);
        place.write(keyed(key, TAG_STATIC));
        place.add(1).write(Word::ptr(text.as_ptr()));
        place.add(2).write(Word::bits(text.len() as u64));
    }
    Filled { used: filled.used + 3, attributes: filled.attributes + 1 }
}

#[inline(never)]
fn text_at(block: BlockRef, filled: Filled, bound: u32, key: &'static KeyMeta, text: &str) -> Filled {
    let (used, words) = (filled.used as usize, words_for(text.len()));
    if text.len() > limits::value_bytes() || used + 2 + words > bound as usize {
        return text_slowly(block, filled, key, text);
    }
    // SAFETY: all words fit, and no reference into the tail exists. The last one is zeroed first, because the bytes may fill only
    // a part of it; without bytes the last word is the length, which is written after it.
    unsafe {
        let place = block.place(used);
        place.add(1 + words).write(Word::bits(0));
        place.write(keyed(key, TAG_TEXT));
        place.add(1).write(Word::bits(text.len() as u64));
        place.add(2).cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
    }
    Filled { used: (used + 2 + words) as u32, attributes: filled.attributes + 1 }
}

#[cold]
#[inline(never)]
fn text_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, text: &str) -> Filled {
    filled.store(block);
    attribute(block, key, Value::Str(text));
    Filled::of(block)
}

#[cold]
#[inline(never)]
fn number_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, tag: usize, bits: u64) -> Filled {
    filled.store(block);
    attribute_by(block, || tail::append(block, &[keyed(key, tag), Word::bits(bits)], &[]));
    Filled::of(block)
}

#[cold]
#[inline(never)]
fn static_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, text: &'static str) -> Filled {
    filled.store(block);
    attribute(block, key, Value::Static(text));
    Filled::of(block)
}

#[cold]
#[inline(never)]
fn array_slowly(block: BlockRef, filled: Filled, key: &'static KeyMeta, array: Array<'_>) -> Filled {
    filled.store(block);
    attribute(block, key, Value::Array(array));
    Filled::of(block)
}

/// Records an attribute without searching for an earlier value, or counts it as dropped if it exceeds a limit.
pub(crate) fn attribute(block: BlockRef, key: &'static KeyMeta, value: Value<'_>) {
    encoded(key, value, |item| append(block, item));
}

fn append(block: BlockRef, item: &Encoded<'_>) {
    if attribute_by(block, || item.append(block)) && item.is_cut {
        block.count_dropped(&block.counts.dropped_attributes);
    }
}

/// Calls `write` unless the span has the maximum number of attributes. Counts the attribute as recorded if `write` succeeds,
/// otherwise as dropped. Returns whether it was recorded.
fn attribute_by(block: BlockRef, write: impl FnOnce() -> bool) -> bool {
    let attributes = block.counts.attributes.get();
    if u32::from(attributes) >= limits::CURRENT.attributes.load(Relaxed) || !write() {
        block.count_dropped(&block.counts.dropped_attributes);
        return false;
    }
    block.counts.attributes.set(attributes + 1);
    true
}

/// Records an attribute; an earlier value of the key is replaced. The space of the earlier value is reused if the new one fits
/// into it.
pub(crate) fn set(block: BlockRef, key: &'static KeyMeta, value: Value<'_>) {
    encoded(key, value, |item| match find(block, key) {
        Some((at, words)) if item.words() <= words => replace(block, at, words, item),
        Some((at, words)) => {
            skip(block, at, words);
            block.counts.attributes.set(block.counts.attributes.get().saturating_sub(1));
            append(block, item);
        }
        None => append(block, item),
    });
}

/// The size of a buffer that is enough for most lists.
const SHORT_LIST_BYTES: usize = 256;

/// Calls `f` with the attribute as words, if it has a value.
fn encoded(key: &'static KeyMeta, value: Value<'_>, f: impl FnOnce(&Encoded<'_>)) {
    match value {
        Value::Array(array) => list(key, array, f),
        value => {
            if let Some(item) = Encoded::new(key, value) {
                f(&item);
            }
        }
    }
}

/// Encodes a list in a buffer on the stack, and calls `f` with the encoded list. Runs no user code.
fn list(key: &'static KeyMeta, array: Array<'_>, f: impl FnOnce(&Encoded<'_>)) {
    let mut buffer = [0; SHORT_LIST_BYTES];
    match Encoded::list(key, array, &mut buffer) {
        item if item.is_cut => long_list(key, array, f),
        item => f(&item),
    }
}

/// Encodes a list in a large buffer, which would be slow to clear for a short list, and calls `f` with the encoded list.
#[inline(never)]
fn long_list(key: &'static KeyMeta, array: Array<'_>, f: impl FnOnce(&Encoded<'_>)) {
    f(&Encoded::list(key, array, &mut [0; LIST_BYTES]));
}

/// Writes the elements that fit the limits. Returns their type, their size in bytes, and whether elements were cut off.
fn pack(array: Array<'_>, buffer: &mut [u8]) -> (ValueType, usize, bool) {
    let limit = limits::value_bytes().min(LIST_TEXT_BYTES);
    // If one number is too large for a signed integer, all numbers become texts, as a single such number does in OTLP.
    let as_texts = array.iter().take(LIST_ELEMENTS).any(Element::is_large);
    let of = if as_texts { ValueType::Str } else { array.of() };
    let mut packer = Packer { bytes: buffer, used: 0 };
    for (at, element) in array.iter().enumerate() {
        let has_room = at < LIST_ELEMENTS
            && match element {
                Element::Str(text) => packer.put(Element::Str(cut(text, limit))),
                number if as_texts => formatted(&format_args!("{number:?}"), |text| packer.put(Element::Str(text))),
                other => packer.put(other),
            };
        if !has_room {
            return (of, packer.used, true);
        }
    }
    (of, packer.used, false)
}

/// An attribute as words.
struct Encoded<'a> {
    head: [Word; 3],
    heads: usize,
    bytes: &'a [u8],
    /// True if elements of a list were cut off.
    is_cut: bool,
}

impl<'a> Encoded<'a> {
    fn list(key: &'static KeyMeta, array: Array<'_>, buffer: &'a mut [u8]) -> Self {
        let (of, used, is_cut) = pack(array, buffer);
        let head = [keyed(key, TAG_LIST), item::list_size(of, used), Word::bits(0)];
        Encoded { head, heads: 2, bytes: &buffer[..used], is_cut }
    }

    fn new(key: &'static KeyMeta, value: Value<'a>) -> Option<Self> {
        let pair = |tag, second| [keyed(key, tag), second, Word::bits(0)];
        let (head, heads, bytes): (_, _, &[u8]) = match value {
            // Lists are encoded by `list`.
            Value::Absent | Value::Array(_) => return None,
            Value::U64(number) => (pair(TAG_U64, Word::bits(number)), 2, &[]),
            Value::I64(number) => (pair(TAG_I64, Word::bits(number as u64)), 2, &[]),
            Value::F64(number) => (pair(TAG_F64, Word::bits(number.to_bits())), 2, &[]),
            Value::Bool(flag) => (pair(TAG_BOOL, Word::bits(u64::from(flag))), 2, &[]),
            Value::Label(ordinal) => (pair(TAG_LABEL, Word::bits(ordinal as u64)), 2, &[]),
            Value::Static(text) => {
                ([keyed(key, TAG_STATIC), Word::ptr(text.as_ptr()), Word::bits(text.len() as u64)], 3, &[])
            }
            Value::Str(text) => {
                let bytes = cut(text, limits::value_bytes()).as_bytes();
                (pair(TAG_TEXT, Word::bits(bytes.len() as u64)), 2, bytes)
            }
        };
        Some(Encoded { head, heads, bytes, is_cut: false })
    }

    fn words(&self) -> usize {
        self.heads + words_for(self.bytes.len())
    }

    fn append(&self, block: BlockRef) -> bool {
        tail::append(block, &self.head[..self.heads], self.bytes)
    }
}

/// Returns the position and the size in words of the span's attribute with this key; `None` if the span has none. Attributes of
/// events are ignored.
fn find(block: BlockRef, key: &'static KeyMeta) -> Option<(usize, usize)> {
    let (mut at, mut of_event) = (0, 0);
    while at < tail::len(block) {
        let (tag, first) = tail::first(block, at);
        let words = item::size(tag, || tail::bits(block, at + 1))?;
        if tag == TAG_EVENT {
            of_event = item::attributes_of_event(tail::bits(block, at + 3));
        } else if tag <= TAG_LIST && of_event > 0 {
            of_event -= 1;
        } else if tag <= TAG_LIST && item::is_keyed(first, key) {
            return Some((at, words));
        }
        at += words;
    }
    None
}

/// Replaces an item of `words` words with an attribute of at most this size.
fn replace(block: BlockRef, at: usize, words: usize, item: &Encoded<'_>) {
    if item.is_cut {
        block.count_dropped(&block.counts.dropped_attributes);
    }
    let new = item.head[..item.heads].iter().copied().chain(tail::padded(item.bytes));
    let mut next = at;
    for word in new {
        tail::overwrite(block, next, word);
        next += 1;
    }
    if next < at + words {
        skip(block, next, at + words - next);
    }
}

/// Overwrites unused words with a skip item.
fn skip(block: BlockRef, at: usize, words: usize) {
    tail::overwrite(block, at, tagged(if words == 1 { TAG_BLANK } else { TAG_SKIP }));
    if words > 1 {
        tail::overwrite(block, at + 1, Word::bits(words as u64));
    }
}

/// Records an event at the current time, with the attributes that were staged for the event.
pub(crate) fn event(block: BlockRef, name: &'static str, staged: Option<&Staged>) {
    event_at(block, clock::now(), name, staged);
}

/// Records an event at this clock reading, or counts it as dropped if it exceeds a limit.
pub(crate) fn event_at(block: BlockRef, time: u64, name: &'static str, staged: Option<&Staged>) {
    let attributes = staged.map_or(0, |staged| staged.written);
    let [address, size] = item::event_name(name, attributes);
    let head = [tagged(TAG_EVENT), Word::bits(time), address, size];
    let full = u32::from(block.counts.events.get()) >= limits::CURRENT.events.load(Relaxed);
    if full || !tail::append_all(block, &head, staged.map(|staged| staged.block)) {
        return block.count_dropped(&block.counts.dropped_events);
    }
    count(&block.counts.events);
    for _ in 0..staged.map_or(0, |staged| staged.dropped) {
        block.count_dropped(&block.counts.dropped_attributes);
    }
}

/// The attributes of an event, written to a separate block: the user code that produces them may end the span, or record on it,
/// before the event is written.
pub(crate) struct Staged {
    block: BlockRef,
    written: u32,
    dropped: u32,
}

impl Staged {
    pub(crate) fn new() -> Option<Self> {
        let block = local::with(|local| local.acquire())?;
        block.begin(0);
        Some(Staged { block, written: 0, dropped: 0 })
    }

    pub(crate) fn attribute(&mut self, key: &'static KeyMeta, value: Value<'_>) {
        encoded(key, value, |item| {
            let full = self.written >= limits::CURRENT.attributes_per_event.load(Relaxed);
            let written = !full && item.append(self.block);
            self.written += u32::from(written);
            self.dropped += u32::from(!written || item.is_cut);
        });
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        local::with(|local| local.release(self.block));
    }
}

/// Records a link, or counts it as dropped if it exceeds a limit.
pub(crate) fn link(block: BlockRef, trace_id: u128, span_id: u64, sampled: bool) {
    let words = [
        tagged(TAG_LINK),
        Word::bits((trace_id >> 64) as u64),
        Word::bits(trace_id as u64),
        Word::bits(span_id),
        Word::bits(u64::from(sampled)),
    ];
    let full = u32::from(block.counts.links.get()) >= limits::CURRENT.links.load(Relaxed);
    if full || !tail::append(block, &words, &[]) {
        return block.count_dropped(&block.counts.dropped_links);
    }
    count(&block.counts.links);
}

/// Span names created at run time, at most 1,024.
static NAMES: Table<()> = Table::new(1024);

/// Sets the name of a span at run time. Once 1,024 different names exist, further ones are ignored and the callsite's name is
/// kept.
pub(crate) fn name(block: BlockRef, name: &str) {
    let known = NAMES.resolve(name, |_| ()).and_then(|ordinal| NAMES.get(ordinal));
    if let Some((name, ())) = known {
        tail::append(block, &[tagged(TAG_NAME), Word::ptr(name.as_ptr()), Word::bits(name.len() as u64)], &[]);
    }
}
