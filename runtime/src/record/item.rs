//! The encoding of a span's attributes, events and links as words: one item after the other, each with a tag in its first word.
//!
//! ```text
//! number, flag, label   key|tag, bits
//! static text           key|tag, address, length
//! copied text           key|tag, length, bytes..
//! list                  key|tag, length and type of elements, bytes..
//! event                 tag, time, name address, name length and number of attributes, then these as items
//! link                  tag, trace id (2), span id, flags
//! name                  tag, address, length
//! propagated                   tag, address
//! skip                  tag, words to pass over, those words
//! blank                 tag
//! ```
//! The tag is in the low four bits of a key's address, which is aligned to 16.

use crate::base::word::{Word, words_for};
use crate::declare::array::Array;
use crate::declare::key::{KeyMeta, ValueType};
use crate::declare::value::{Value, cut};

pub(crate) const TAG_U64: usize = 0;
pub(crate) const TAG_I64: usize = 1;
pub(crate) const TAG_F64: usize = 2;
pub(crate) const TAG_BOOL: usize = 3;
pub(crate) const TAG_LABEL: usize = 4;
pub(crate) const TAG_STATIC: usize = 5;
pub(crate) const TAG_TEXT: usize = 6;
/// The highest tag of an attribute; larger tags are those of other items.
pub(crate) const TAG_LIST: usize = 7;
pub(crate) const TAG_EVENT: usize = 8;
pub(crate) const TAG_BLANK: usize = 9;
pub(crate) const TAG_LINK: usize = 10;
pub(crate) const TAG_NAME: usize = 11;
pub(crate) const TAG_PROPAGATED: usize = 12;
pub(crate) const TAG_SKIP: usize = 13;

const TAG_MASK: usize = 15;

/// Returns the first word of an attribute.
#[inline(always)]
pub(crate) fn keyed(key: &'static KeyMeta, tag: usize) -> Word {
    Word::ptr(std::ptr::from_ref(key).map_addr(|address| address | tag))
}

/// Returns the first word of an item that is not an attribute.
#[inline(always)]
pub(crate) fn tagged(tag: usize) -> Word {
    Word::ptr(std::ptr::without_provenance::<()>(tag))
}

/// Returns the tag of an item with this first word.
pub(crate) fn tag(first: *const ()) -> usize {
    first.addr() & TAG_MASK
}

/// Returns whether the first word is that of an attribute with this key.
pub(crate) fn is_keyed(first: *const (), key: &'static KeyMeta) -> bool {
    first.addr() & !TAG_MASK == std::ptr::from_ref(key).addr()
}

/// The maximum length of an event's name in bytes.
const EVENT_NAME_BYTES: usize = 4096;

/// Returns the last two words of an event's head: the name, cut to its limit, and the number of attributes.
pub(crate) fn event_name(name: &'static str, attributes: u32) -> [Word; 2] {
    let name = cut(name, EVENT_NAME_BYTES);
    [Word::ptr(name.as_ptr()), Word::bits(name.len() as u64 | u64::from(attributes) << 32)]
}

/// Returns the number of attributes of an event, from the last word of its head.
pub(crate) fn attributes_of_event(size: u64) -> u32 {
    (size >> 32) as u32
}

/// Returns the second word of a list: the size of its elements in bytes, and their type.
pub(crate) fn list_size(of: ValueType, bytes: usize) -> Word {
    let at = ELEMENTS.iter().position(|known| *known == of).unwrap_or_default();
    Word::bits(bytes as u64 | (at as u64) << 32)
}

/// The types that elements of lists can have.
const ELEMENTS: [ValueType; 4] = [ValueType::Str, ValueType::I64, ValueType::F64, ValueType::Bool];

/// Returns the size of an item in words, or `None` for an unknown tag. `second` returns the item's second word.
#[inline(always)]
pub(crate) fn size(tag: usize, second: impl FnOnce() -> u64) -> Option<usize> {
    Some(match tag {
        TAG_U64..=TAG_LABEL | TAG_PROPAGATED => 2,
        TAG_STATIC | TAG_NAME => 3,
        TAG_TEXT => 2 + words_for(second() as usize),
        TAG_LIST => 2 + words_for(second() as u32 as usize),
        TAG_EVENT => 4,
        TAG_LINK => 5,
        TAG_SKIP => second() as usize,
        TAG_BLANK => 1,
        _ => return None,
    })
}

/// A decoded item.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    Attribute(&'static KeyMeta, Value<'a>),
    Event {
        time: u64,
        name: &'static str,
        attributes: u32,
    },
    Link {
        trace_id: u128,
        span_id: u64,
        flags: u64,
    },
    Name(&'static str),
    /// Propagated state, to which the record owns a reference. The record reads it by position.
    Propagated,
    Skip,
}

/// Decodes items from words. Ends at the first item that is incomplete or has an unknown tag.
pub(crate) struct Items<'a>(&'a [Word]);

impl<'a> Items<'a> {
    /// # Safety
    /// The words were written by `fields`, as a sequence of items, the last of which may be cut off. Texts named by
    /// address are `'static`.
    pub(crate) unsafe fn new(words: &'a [Word]) -> Self {
        Items(words)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    // Always inlined: where the tag is constant, the item is optimised away.
    #[inline(always)]
    fn next(&mut self) -> Option<Item<'a>> {
        // SAFETY: the first word of each item is a pointer, by `new`'s contract.
        let first = unsafe { self.0.first()?.as_ptr() };
        // SAFETY: the second word of the items for which `size` reads it is a number.
        let second = || self.0.get(1).map_or(0, |word| unsafe { word.as_bits() });
        let words = size(tag(first), second)?;
        let body = self.0.get(1..words)?;
        self.0 = &self.0[words..];
        // SAFETY: the item is whole and was written with this tag.
        Some(unsafe { read(tag(first), first, body) })
    }
}

/// # Safety
/// `first` and `body` are a whole item that was written with `tag`.
#[inline(always)]
unsafe fn read<'a>(tag: usize, first: *const (), body: &'a [Word]) -> Item<'a> {
    // SAFETY: each tag is written with words of these types (see the module docs), and texts are UTF-8 copied from a `str`.
    unsafe {
        let key = || &*first.map_addr(|address| address & !TAG_MASK).cast::<KeyMeta>();
        let bits = |at: usize| body[at].as_bits();
        let text = |at: usize| static_text(body[at], bits(at + 1) as usize);
        let bytes = |len: usize| std::slice::from_raw_parts(body[1..].as_ptr().cast::<u8>(), len);
        match tag {
            TAG_U64 => Item::Attribute(key(), Value::U64(bits(0))),
            TAG_I64 => Item::Attribute(key(), Value::I64(bits(0) as i64)),
            TAG_F64 => Item::Attribute(key(), Value::F64(f64::from_bits(bits(0)))),
            TAG_BOOL => Item::Attribute(key(), Value::Bool(bits(0) != 0)),
            TAG_LABEL => Item::Attribute(key(), Value::Label(bits(0) as usize)),
            TAG_STATIC => Item::Attribute(key(), Value::Static(text(0))),
            TAG_TEXT => Item::Attribute(key(), Value::Str(std::str::from_utf8_unchecked(bytes(bits(0) as usize)))),
            TAG_LIST => {
                // The upper half of the length word is the type.
                let of = ELEMENTS.get((bits(0) >> 32) as usize).copied().unwrap_or(ValueType::Str);
                Item::Attribute(key(), Value::Array(Array::packed(of, bytes(bits(0) as u32 as usize))))
            }
            TAG_EVENT => {
                // The upper half of the length word is the number of attributes.
                let name = static_text(body[1], bits(2) as u32 as usize);
                Item::Event { time: bits(0), name, attributes: attributes_of_event(bits(2)) }
            }
            TAG_LINK => {
                let trace_id = (u128::from(bits(0)) << 64) | u128::from(bits(1));
                Item::Link { trace_id, span_id: bits(2), flags: bits(3) }
            }
            TAG_NAME => Item::Name(text(0)),
            TAG_PROPAGATED => Item::Propagated,
            _ => Item::Skip,
        }
    }
}

/// # Safety
/// `address` and `len` must be the address and the length of a `&'static str`.
unsafe fn static_text(address: Word, len: usize) -> &'static str {
    // SAFETY: the contract of this function.
    unsafe {
        let bytes = std::slice::from_raw_parts(address.as_ptr().cast::<u8>(), len);
        std::str::from_utf8_unchecked(bytes)
    }
}
