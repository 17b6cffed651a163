//! How a span's attributes, events and links lie in words: one item after the other, each with a tag in its first word.
//!
//! ```text
//! number, flag, label   key|tag, bits
//! static text           key|tag, address, length
//! copied text           key|tag, length, bytes..
//! event                 tag, time, name address, name length, then attribute items until an END item
//! link                  tag, trace id (2), span id, flags
//! name                  tag, address, length
//! ext                   tag, address
//! skip                  tag, words to pass over, those words
//! ```
//! The tag is in the low four bits of a key's address, which is aligned to 16.

use crate::key::KeyMeta;
use crate::value::Value;
use crate::word::{Word, words_for};

pub(crate) const TAG_U64: usize = 0;
pub(crate) const TAG_I64: usize = 1;
pub(crate) const TAG_F64: usize = 2;
pub(crate) const TAG_BOOL: usize = 3;
pub(crate) const TAG_LABEL: usize = 4;
pub(crate) const TAG_STATIC: usize = 5;
pub(crate) const TAG_TEXT: usize = 6;
pub(crate) const TAG_EVENT: usize = 8;
pub(crate) const TAG_END: usize = 9;
pub(crate) const TAG_LINK: usize = 10;
pub(crate) const TAG_NAME: usize = 11;
pub(crate) const TAG_EXT: usize = 12;
pub(crate) const TAG_SKIP: usize = 13;

const TAG_MASK: usize = 15;

/// The first word of an attribute.
#[inline(always)]
pub(crate) fn keyed(key: &'static KeyMeta, tag: usize) -> Word {
    Word::ptr(std::ptr::from_ref(key).map_addr(|address| address | tag))
}

/// The first word of any other item.
#[inline(always)]
pub(crate) fn tagged(tag: usize) -> Word {
    Word::ptr(std::ptr::without_provenance::<()>(tag))
}

/// One item, read back.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    Attribute(&'static KeyMeta, Value<'a>),
    Event {
        time: u64,
        name: &'static str,
    },
    EndOfEvent,
    Link {
        trace_id: u128,
        span_id: u64,
        flags: u64,
    },
    Name(&'static str),
    /// The address of an `Ext`, owned by the record.
    Ext(*const ()),
    Skip,
}

/// Reads items from words. Ends at the first one that is not whole.
pub(crate) struct Items<'a>(&'a [Word]);

impl<'a> Items<'a> {
    /// # Safety
    /// The words were written by `fields`, as a sequence of items, the last of which may be cut off. Texts named by
    /// address are `'static`.
    pub(crate) unsafe fn new(words: &'a [Word]) -> Self {
        Items(words)
    }

    /// The next item and how many words it takes.
    pub(crate) fn next_sized(&mut self) -> Option<(Item<'a>, usize)> {
        // SAFETY: the first word of each item is a pointer, by `new`'s contract.
        let first = unsafe { self.0.first()?.as_ptr() };
        let tag = first.addr() & TAG_MASK;
        let words = self.size(tag)?;
        let body = self.0.get(1..words)?;
        // SAFETY: the item is whole and was written with this tag.
        let item = unsafe { read(tag, first, body) };
        self.0 = &self.0[words..];
        Some((item, words))
    }

    fn size(&self, tag: usize) -> Option<usize> {
        // SAFETY: the second word of these two is a number.
        let count = || Some(unsafe { self.0.get(1)?.as_bits() } as usize);
        Some(match tag {
            TAG_U64..=TAG_LABEL | TAG_EXT => 2,
            TAG_STATIC | TAG_NAME => 3,
            TAG_TEXT => 2 + words_for(count()?),
            TAG_EVENT => 4,
            TAG_LINK => 5,
            TAG_SKIP => count()?,
            _ => 1,
        })
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        self.next_sized().map(|(item, _)| item)
    }
}

/// # Safety
/// `first` and `body` are a whole item that was written with `tag`.
unsafe fn read<'a>(tag: usize, first: *const (), body: &'a [Word]) -> Item<'a> {
    // SAFETY: each tag is written with words of these types (module docs), and texts are UTF-8 copied from a `str`.
    unsafe {
        let key = || &*first.map_addr(|address| address & !TAG_MASK).cast::<KeyMeta>();
        let bits = |at: usize| body[at].as_bits();
        let text = |at: usize| static_text(body[at], body[at + 1]);
        match tag {
            TAG_U64 => Item::Attribute(key(), Value::U64(bits(0))),
            TAG_I64 => Item::Attribute(key(), Value::I64(bits(0) as i64)),
            TAG_F64 => Item::Attribute(key(), Value::F64(f64::from_bits(bits(0)))),
            TAG_BOOL => Item::Attribute(key(), Value::Bool(bits(0) != 0)),
            TAG_LABEL => Item::Attribute(key(), Value::Label(bits(0) as usize)),
            TAG_STATIC => Item::Attribute(key(), Value::Static(text(0))),
            TAG_TEXT => {
                let bytes = std::slice::from_raw_parts(body[1..].as_ptr().cast::<u8>(), bits(0) as usize);
                Item::Attribute(key(), Value::Str(std::str::from_utf8_unchecked(bytes)))
            }
            TAG_EVENT => Item::Event { time: bits(0), name: text(1) },
            TAG_LINK => {
                let trace_id = (u128::from(bits(0)) << 64) | u128::from(bits(1));
                Item::Link { trace_id, span_id: bits(2), flags: bits(3) }
            }
            TAG_NAME => Item::Name(text(0)),
            TAG_EXT => Item::Ext(body[0].as_ptr()),
            TAG_SKIP => Item::Skip,
            _ => Item::EndOfEvent,
        }
    }
}

/// # Safety
/// The words are the address and the length of a `&'static str`.
unsafe fn static_text(address: Word, len: Word) -> &'static str {
    // SAFETY: the contract of this function.
    unsafe {
        let bytes = std::slice::from_raw_parts(address.as_ptr().cast::<u8>(), len.as_bits() as usize);
        std::str::from_utf8_unchecked(bytes)
    }
}
