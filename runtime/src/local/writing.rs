//! Writing the records of spans that end into the thread's chunk.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use super::blocks::take_ext;
use super::{FULL, Local, count_drop};
use crate::announce;
use crate::block::{
    ANNOUNCED, Block, BlockRef, CAPTURED, CHAINED, ENTERED, FAILED, HAS_EXT, INCOMPLETE, ORPHANED, REMOTE_PARENT,
    TAIL_WORDS, UNIX_TIMES,
};
use crate::ext::Ext;
use crate::finished::Outcome;
use crate::item::{TAG_EXT, tagged};
use crate::record::{self, HEADER_WORDS, Record};
use crate::recorder::{self, Recorder};
use crate::sync::Release;
use crate::threads::{Reason, bump};
use crate::word::Word;

/// Words of items that are copied here; for more of them, memcpy is worth its call.
const COPIED_WORDS: usize = 24;
const _: () = assert!(COPIED_WORDS.is_multiple_of(4) && COPIED_WORDS <= TAIL_WORDS);

type Copied = MaybeUninit<u64>;

/// What keeps a span from being written the short way.
const SPECIAL: u32 =
    CHAINED | ENTERED | HAS_EXT | CAPTURED | ORPHANED | UNIX_TIMES | REMOTE_PARENT | INCOMPLETE | FAILED | ANNOUNCED;

impl Local {
    /// Counts a sampled span whose clock starts now. It has a block, so the thread that made it was registered;
    /// a future may be polled first on another one.
    #[inline(always)]
    pub(crate) fn count_started(&self) {
        match self.home.get().or_else(|| self.register()) {
            Some(home) => bump(&home.started),
            None => recorder::get().map_or((), Recorder::count_lost_start),
        }
    }

    /// Writes the record of a span that comes to its end, and gives its block back.
    #[inline(always)]
    pub(crate) fn record(&self, block: BlockRef, end: u64) {
        let (used, written) = (usize::from(block.counts.used.get()), self.written.get());
        let room = written <= FULL - (HEADER_WORDS + COPIED_WORDS) as u32;
        if !room || used > COPIED_WORDS || block.has(SPECIAL) {
            return self.record_slowly(block, end, Outcome::Ok);
        }
        let words = HEADER_WORDS + used;
        // SAFETY: the chunk is ours, and what may be copied fits. The tail has `used` words, and lies elsewhere.
        unsafe {
            let place = self.words.get().add(written as usize);
            place.cast::<[Word; HEADER_WORDS]>().write(record::plain_header(&block, words, end));
            let (items, tail) = (place.add(HEADER_WORDS).cast::<Copied>(), block.place(0).cast::<Copied>());
            for at in (0..used).step_by(4) {
                // Four at a time, past the end if need be.
                items.add(at).write(tail.add(at).read());
                items.add(at + 1).write(tail.add(at + 1).read());
                items.add(at + 2).write(tail.add(at + 2).read());
                items.add(at + 3).write(tail.add(at + 3).read());
            }
        }
        self.publish(words);
        self.keep(block);
    }

    /// Makes `words` words that were written to the chunk visible to the reader, as one ended span.
    #[inline(always)]
    fn publish(&self, words: usize) {
        let written = self.written.get() + words as u32;
        self.written.set(written);
        // SAFETY: there was room, so `published` belongs to the chunk that this thread owns.
        unsafe { (*self.published.get()).store(written, Release) };
        if let Some(home) = self.home.get() {
            bump(&home.ended);
        }
    }

    /// As `record`, for spans of every kind.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_slowly(&self, block: BlockRef, end: u64, outcome: Outcome) {
        if block.has(ORPHANED) {
            return;
        }
        let outcome = if outcome == Outcome::Ok && block.has(FAILED) { Outcome::Error } else { outcome };
        if block.has(ANNOUNCED) {
            announce::close(&block);
        }
        let ext = take_ext(&block);
        if block.has(CAPTURED) {
            capture(&block, ext, end, outcome);
        } else {
            self.write_long(&block, ext, end, outcome);
        }
        self.release(block);
    }

    /// Writes a record of any size, to a new chunk if it does not fit into this one.
    fn write_long(&self, block: &Block, ext: Option<Arc<Ext>>, end: u64, outcome: Outcome) {
        let Some(home) = self.home.get().or_else(|| self.register()) else {
            return recorder::get().map_or((), Recorder::count_lost_end);
        };
        let words = long_words(block, ext.is_some());
        if words > (FULL - self.written.get()) as usize && self.next_chunk().is_none() {
            return count_drop(home, Reason::NoChunk);
        }
        // SAFETY: the chunk is ours and has room: a record is never longer than a chunk (MAX_ITEM_WORDS).
        unsafe {
            let place = self.words.get().add(self.written.get() as usize);
            write_record(place, block, ext, words, end, outcome);
        }
        self.publish(words);
    }

    fn next_chunk(&self) -> Option<()> {
        let recorder = recorder::get()?;
        self.detach_chunk(recorder);
        let index = recorder.chunks.acquire()?;
        let (words, published) = recorder.chunks.writer(index);
        self.chunk.set(index);
        self.words.set(words);
        self.published.set(published);
        self.written.set(0);
        Some(())
    }

    pub(super) fn detach_chunk(&self, recorder: &Recorder) {
        if !self.published.get().is_null() {
            recorder.chunks.detach(self.chunk.get());
        }
        self.published.set(ptr::null());
        self.written.set(FULL);
    }
}

fn long_words(block: &Block, ext: bool) -> usize {
    let items = usize::from(block.counts.used.get()) + usize::from(block.counts.chained.get());
    HEADER_WORDS + items + if ext { 2 } else { 0 }
}

/// # Safety
/// `words`, as `long_words` counts them, may be written from `place` on.
unsafe fn write_record(
    place: *mut Word,
    block: &Block,
    ext: Option<Arc<Ext>>,
    words: usize,
    end: u64,
    outcome: Outcome,
) {
    // SAFETY: the words are in bounds by the contract; tails are initialised up to `used` and lie elsewhere.
    unsafe {
        place.cast::<[Word; HEADER_WORDS]>().write(record::header(block, words, end, outcome, ext.is_some()));
        let mut next = place.add(HEADER_WORDS);
        let mut part = Some(block);
        while let Some(source) = part {
            let used = usize::from(source.counts.used.get());
            next.copy_from_nonoverlapping(source.place(0), used);
            next = next.add(used);
            part = source.chain.get().map(BlockRef::get);
        }
        if let Some(ext) = ext {
            next.write(tagged(TAG_EXT));
            next.add(1).write(Word::ptr(Arc::into_raw(ext)));
        }
    }
}

/// Hands a finished span to the sink of its ext.
fn capture(block: &Block, ext: Option<Arc<Ext>>, end: u64, outcome: Outcome) {
    let Some(sink) = ext.as_ref().and_then(|ext| ext.sink.clone()) else { return };
    let words = long_words(block, ext.is_some());
    let mut copy = vec![Word::bits(0); words];
    // SAFETY: the copy has exactly these words, and is then a whole record.
    let record = unsafe {
        write_record(copy.as_mut_ptr(), block, ext, words, end, outcome);
        Record::split(&copy)
    };
    if let Some((record, _)) = record {
        let span = record.finish(&sink.converter());
        record.release();
        sink.finished(span);
    }
}
