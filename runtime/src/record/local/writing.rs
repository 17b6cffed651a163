//! Writes the records of ended spans into the thread's chunk.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use super::blocks::take_propagated;
use super::{FULL, Local, count_drop};
use crate::base::sync::Release;
use crate::base::word::Word;
use crate::record::block::{
    ANNOUNCED, Block, BlockRef, CAPTURED, CHAINED, ENTERED, FAILED, HAS_PROPAGATED, INCOMPLETE, MIRRORED, ORPHANED,
    REMOTE_PARENT, SURPLUS, TAIL_WORDS, TIMED, UNIX_TIMES, WATCHED,
};
use crate::record::chunk::Writer;
use crate::record::clock::Converter;
use crate::record::finished::{FinishedSpan, Outcome};
use crate::record::heartbeat;
use crate::record::item::{TAG_PROPAGATED, tagged};
use crate::record::layout::{self, HEADER_WORDS, Record};
use crate::record::propagated::Propagated;
use crate::record::recorder::{self, Recorder};
use crate::record::threads::{Reason, bump};

/// The maximum number of words that are copied inline; for more, a call of memcpy is faster.
const COPIED_WORDS: usize = 24;
const _: () = assert!(COPIED_WORDS.is_multiple_of(4) && COPIED_WORDS <= TAIL_WORDS);

type Copied = MaybeUninit<u64>;

/// The flags that exclude a span from the short path.
const SPECIAL: u32 = CHAINED
    | ENTERED
    | HAS_PROPAGATED
    | CAPTURED
    | ORPHANED
    | UNIX_TIMES
    | REMOTE_PARENT
    | INCOMPLETE
    | FAILED
    | ANNOUNCED
    | MIRRORED
    | SURPLUS
    | TIMED
    | WATCHED;

impl Local {
    /// Counts a sampled span whose clock starts now. The thread may be in teardown: a future may be polled first on another
    /// thread than the one that acquired the block.
    #[inline(always)]
    pub(crate) fn count_started(&self) {
        match self.home() {
            Some(home) => bump(&home.started),
            None => recorder::get().map_or((), Recorder::count_lost_start),
        }
    }

    /// Writes the record of an ended span, and releases its block, if the span is ordinary: it has no special flag, few items,
    /// and room in the chunk. Otherwise does nothing and returns false.
    #[inline(always)]
    pub(crate) fn record(&self, block: BlockRef, end: u64) -> bool {
        let (used, written) = (usize::from(block.counts.used.get()), self.written.get());
        let room = written <= FULL - (HEADER_WORDS + COPIED_WORDS) as u32;
        if !room || used > COPIED_WORDS || block.has(SPECIAL) {
            return false;
        }
        let words = HEADER_WORDS + used;
        // SAFETY: the chunk is ours, and the copied words fit. The tail has `used` words and does not overlap the chunk.
        unsafe {
            let place = self.words.get().add(written as usize);
            place.cast::<[Word; HEADER_WORDS]>().write(layout::plain_header(&block, words, end));
            let (items, tail) = (place.add(HEADER_WORDS).cast::<Copied>(), block.place(0).cast::<Copied>());
            for at in (0..used).step_by(4) {
                // Copies four at a time, past the end if necessary.
                items.add(at).write(tail.add(at).read());
                items.add(at + 1).write(tail.add(at + 1).read());
                items.add(at + 2).write(tail.add(at + 2).read());
                items.add(at + 3).write(tail.add(at + 3).read());
            }
        }
        // Before the record becomes readable, so that a span is never both ended and open.
        block.close();
        self.publish(words);
        self.keep(block);
        true
    }

    /// Publishes `words` words that were written to the chunk as one ended span.
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

    /// Writes the record of an ended span with any flags and outcome, and releases its block. Does nothing for an orphaned
    /// block.
    pub(crate) fn record_slowly(&self, block: BlockRef, end: u64, outcome: Outcome) {
        if block.has(ORPHANED) {
            return;
        }
        self.write(block, end, outcome);
        self.release(block);
    }

    /// Writes the record of a span whose owner may still use it. The block is not reused.
    #[cfg(has_otlp)]
    pub(crate) fn record_for_owner(&self, block: BlockRef, end: u64, outcome: Outcome) {
        if !block.has(ORPHANED) {
            self.write(block, end, outcome);
            block.flags.set(ORPHANED);
        }
    }

    fn write(&self, block: BlockRef, end: u64, outcome: Outcome) {
        block.close();
        let outcome = if outcome == Outcome::Ok && block.has(FAILED) { Outcome::Error } else { outcome };
        if block.has(ANNOUNCED) {
            heartbeat::close(&block);
        }
        let propagated = take_propagated(&block);
        if block.has(CAPTURED) {
            capture(&block, propagated, end, outcome);
        } else {
            self.write_long(&block, propagated, end, outcome);
        }
    }

    /// Writes a record of any size, to a new chunk if it does not fit into the current one. Counts the span as dropped if no
    /// chunk is free.
    fn write_long(&self, block: &Block, propagated: Option<Arc<Propagated>>, end: u64, outcome: Outcome) {
        let Some(home) = self.home() else {
            return recorder::get().map_or((), Recorder::count_lost_end);
        };
        let words = long_words(block, propagated.is_some());
        if words > (FULL - self.written.get()) as usize && self.next_chunk(words).is_none() {
            return count_drop(home, Reason::SpanBufferFull);
        }
        // SAFETY: the chunk is ours and has room: a record is never longer than a chunk (MAX_ITEM_WORDS).
        unsafe {
            let place = self.words.get().add(self.written.get() as usize);
            write_record(place, block, propagated, words, end, outcome);
        }
        self.publish(words);
    }

    /// Detaches the current chunk and takes a new one for a record of this many words; `None` if no chunk is free. A thread's
    /// first chunk is preferably a small one, because many threads record few spans.
    fn next_chunk(&self, words: usize) -> Option<()> {
        let recorder = recorder::get()?;
        let is_first = self.published.get().is_null();
        self.detach_chunk(recorder);
        let index = recorder.chunks.acquire(words, is_first)?;
        let Writer { index, words, written, published } = recorder.chunks.writer(index);
        self.chunk.set(index);
        self.words.set(words);
        self.published.set(published);
        self.written.set(written);
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

fn long_words(block: &Block, propagated: bool) -> usize {
    let items = usize::from(block.counts.used.get()) + usize::from(block.counts.chained.get());
    HEADER_WORDS + items + if propagated { 2 } else { 0 }
}

/// # Safety
/// `words`, as `long_words` counts them, must be writable from `place` on.
unsafe fn write_record(
    place: *mut Word,
    block: &Block,
    propagated: Option<Arc<Propagated>>,
    words: usize,
    end: u64,
    outcome: Outcome,
) {
    // SAFETY: the words are in bounds by the contract; tails are initialised up to `used` and do not overlap the chunk.
    unsafe {
        place.cast::<[Word; HEADER_WORDS]>().write(layout::header(block, words, end, outcome, propagated.is_some()));
        let mut next = place.add(HEADER_WORDS);
        let mut part = Some(block);
        while let Some(source) = part {
            let used = usize::from(source.counts.used.get());
            next.copy_from_nonoverlapping(source.place(0), used);
            next = next.add(used);
            part = source.chain.get().map(BlockRef::get);
        }
        if let Some(propagated) = propagated {
            next.write(tagged(TAG_PROPAGATED));
            next.add(1).write(Word::ptr(Arc::into_raw(propagated)));
        }
    }
}

/// Passes a finished span to the sink of its propagated state, if the state has one.
fn capture(block: &Block, propagated: Option<Arc<Propagated>>, end: u64, outcome: Outcome) {
    let Some(sink) = propagated.as_ref().and_then(|propagated| propagated.sink.clone()) else { return };
    if let Some(span) = plain(block, propagated, end, outcome, &sink.converter()) {
        sink.finished(span);
    }
}

/// Converts a span to plain data, as recorded so far.
pub(crate) fn plain(
    block: &Block,
    propagated: Option<Arc<Propagated>>,
    end: u64,
    outcome: Outcome,
    converter: &Converter,
) -> Option<FinishedSpan> {
    let words = long_words(block, propagated.is_some());
    let mut copy = vec![Word::bits(0); words];
    // SAFETY: the copy has exactly these words, and is then a whole record.
    let record = unsafe {
        write_record(copy.as_mut_ptr(), block, propagated, words, end, outcome);
        Record::split(&copy)
    };
    let (record, _) = record?;
    let span = record.finish(converter);
    record.release();
    Some(span)
}
