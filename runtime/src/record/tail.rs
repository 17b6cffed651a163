//! Accesses the items of an open span as one sequence of words, even if they are in several blocks.
//!
//! A block is filled to its last word before the next one is begun, so word `n` is in block `n / TAIL_WORDS`.

use crate::base::word::{Word, words_for};
use crate::record::block::{Block, BlockRef, CHAINED, TAIL_WORDS, count};
use crate::record::item;
use crate::record::local::MAX_ITEM_WORDS;
use crate::record::recorder;

/// Returns the number of words of all items.
pub(crate) fn len(block: BlockRef) -> usize {
    usize::from(block.counts.used.get()) + usize::from(block.counts.chained.get())
}

/// Appends an item to the block or its chained blocks. Returns false, without writing anything, if not all of it fits.
pub(crate) fn append(block: BlockRef, head: &[Word], bytes: &[u8]) -> bool {
    let words = head.len() + words_for(bytes.len());
    if len(block) + words > MAX_ITEM_WORDS || !make_room(block, words) {
        return false;
    }
    if block.append_bytes(head, bytes) {
        return true;
    }
    append_words(block, head.iter().copied().chain(padded(bytes)));
    true
}

/// Appends an item and all items of another block. Returns false, without writing anything, if not all of them fit.
pub(crate) fn append_all(block: BlockRef, head: &[Word], others: Option<BlockRef>) -> bool {
    let more = others.map_or(0, len);
    if len(block) + head.len() + more > MAX_ITEM_WORDS || !make_room(block, head.len() + more) {
        return false;
    }
    let others = others.into_iter().flat_map(|others| (0..more).map(move |at| word(others, at)));
    append_words(block, head.iter().copied().chain(others));
    true
}

fn append_words(block: BlockRef, words: impl Iterator<Item = Word>) {
    for word in words {
        let (part, _) = locate(block, len(block));
        part.append([word]);
        if !std::ptr::eq(part, block.get()) {
            count(&block.counts.chained);
        }
    }
}

/// Returns the bytes as words, the last one padded with zeros.
pub(crate) fn padded(bytes: &[u8]) -> impl Iterator<Item = Word> {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        Word::bits(u64::from_ne_bytes(word))
    })
}

/// Chains as many blocks as `words` more words need. Returns false if the pool has too few.
fn make_room(block: BlockRef, words: usize) -> bool {
    let mut last = block;
    let mut room = TAIL_WORDS;
    while let Some(next) = last.chain.get() {
        last = next;
        room += TAIL_WORDS;
    }
    while room < len(block) + words {
        // Taken from the pool, and returned to it, not from the thread's own blocks: the span may end on another thread.
        let Some(next) = recorder::get().and_then(|recorder| recorder.blocks.acquire()) else { return false };
        last.chain.set(Some(next));
        block.raise(CHAINED);
        room += TAIL_WORDS;
        last = next;
    }
    true
}

/// Returns the block that contains word `at`, and the index in that block. The block exists, because the caller stays within
/// `len` or has made room.
fn locate(block: BlockRef, at: usize) -> (&'static Block, usize) {
    let mut part = block;
    for _ in 0..at / TAIL_WORDS {
        part = part.chain.get().unwrap_or(part);
    }
    (part.get(), at % TAIL_WORDS)
}

/// Replaces word `at`.
pub(crate) fn overwrite(block: BlockRef, at: usize, word: Word) {
    let (part, at) = locate(block, at);
    part.overwrite(at, word);
}

fn word(block: BlockRef, at: usize) -> Word {
    let (part, at) = locate(block, at);
    part.word(at)
}

/// Returns the tag and the address in the first word of the item at `at`.
pub(crate) fn first(block: BlockRef, at: usize) -> (usize, *const ()) {
    // SAFETY: the first word of an item is a pointer.
    let first = unsafe { word(block, at).as_ptr() };
    (item::tag(first), first)
}

/// Returns word `at`, which must be a number.
pub(crate) fn bits(block: BlockRef, at: usize) -> u64 {
    // SAFETY: the callers pass the positions of counts, which are numbers.
    unsafe { word(block, at).as_bits() }
}
