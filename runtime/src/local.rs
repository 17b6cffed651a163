//! Each thread's own part: the current span, a few free blocks, the chunk it fills, its ids and counters.
//!
//! The hot path touches only this and the span's block. Everything that may be slow (a new chunk, more blocks, a thread
//! that is seen for the first time or for the last) is behind a cold call. The storage has no destructor, so it can be
//! used until the thread's very end; a second key with one cleans up, and from then on the thread is `dead`.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use crate::announce;
use crate::block::{
    ANNOUNCED, Block, BlockRef, CAPTURED, CHAINED, FAILED, HAS_EXT, INCOMPLETE, ORPHANED, REMOTE_PARENT, TAIL_WORDS,
    UNIX_TIMES,
};
use crate::chunk::CHUNK_WORDS;
use crate::ext::Ext;
use crate::finished::Outcome;
use crate::ids::Generator;
use crate::item::{TAG_EXT, tagged};
use crate::record::{self, HEADER_WORDS, Record};
use crate::recorder::{self, Recorder};
use crate::sync::{AtomicU32, Release};
use crate::threads::{Reason, ThreadCounts, bump};
use crate::word::Word;

/// Words of items that are copied here; for more of them, memcpy is worth its call.
const COPIED_WORDS: usize = 24;
const _: () = assert!(COPIED_WORDS.is_multiple_of(4) && COPIED_WORDS <= TAIL_WORDS);

type Copied = MaybeUninit<u64>;

/// What keeps a span from being written the short way.
const SPECIAL: u32 =
    CHAINED | HAS_EXT | CAPTURED | ORPHANED | UNIX_TIMES | REMOTE_PARENT | INCOMPLETE | FAILED | ANNOUNCED;

/// What `written` is when the chunk is full, or when there is none.
const FULL: u32 = CHUNK_WORDS as u32;
/// Blocks that a thread may own when one arrives from another; above this it gives free ones back until it has half.
const OWNED_BLOCKS: i32 = 64;
/// Blocks a thread takes at a time.
const REFILL: u32 = 8;
/// Words that a span's items may take in all, so that its record fits into a chunk with header and ext.
pub(crate) const MAX_ITEM_WORDS: usize = CHUNK_WORDS - HEADER_WORDS - 2;

pub(crate) struct Local {
    current: Cell<Option<BlockRef>>,
    free: Cell<Option<BlockRef>>,
    /// Blocks that are this thread's: in its free list, or in a span that began here and will end here. Those that may
    /// end on another thread are counted out when they depart, and in when they arrive.
    owned: Cell<i32>,
    /// The chunk that is being filled, and how many words of it are; all of them if there is none.
    words: Cell<*mut Word>,
    written: Cell<u32>,
    published: Cell<*const AtomicU32>,
    chunk: Cell<u32>,
    home: Cell<Option<&'static ThreadCounts>>,
    dead: Cell<bool>,
    pub(crate) ids: Generator,
}

thread_local! {
    static LOCAL: Local = const { Local::new() };
    static EXIT: Exit = const { Exit };
}

/// Runs `f` with the calling thread's part. Works until the thread's very end.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Local) -> R) -> R {
    LOCAL.with(f)
}

impl Local {
    const fn new() -> Self {
        Local {
            current: Cell::new(None),
            free: Cell::new(None),
            owned: Cell::new(0),
            words: Cell::new(ptr::null_mut()),
            written: Cell::new(FULL),
            published: Cell::new(ptr::null()),
            chunk: Cell::new(0),
            home: Cell::new(None),
            dead: Cell::new(false),
            ids: Generator::new(),
        }
    }

    /// The innermost span or context that is entered on this thread.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<BlockRef> {
        self.current.get()
    }

    /// Puts a block on top of the thread's scopes.
    #[inline(always)]
    pub(crate) fn push(&self, block: BlockRef) {
        block.below.set(self.current.get());
        self.current.set(Some(block));
    }

    /// Goes back to what was below `block`, whatever was left on top of it: a leaked scope ends here.
    #[inline(always)]
    pub(crate) fn pop_to(&self, block: BlockRef) {
        self.current.set(block.below.get());
    }

    /// Takes `block` out, wherever in the stack it is. If a scope around it has ended before, it is not there any more.
    pub(crate) fn remove(&self, block: BlockRef) {
        if self.current.get() == Some(block) {
            return self.pop_to(block);
        }
        let mut above = self.current.get();
        while let Some(candidate) = above {
            if candidate.below.get() == Some(block) {
                return candidate.below.set(block.below.get());
            }
            above = candidate.below.get();
        }
    }

    /// A block with nothing in it, if the pool has one.
    #[inline(always)]
    pub(crate) fn acquire(&self) -> Option<BlockRef> {
        let block = match self.free.get() {
            Some(block) => block,
            None => self.refill()?,
        };
        self.free.set(block.below.get());
        block.counts.reset();
        Some(block)
    }

    /// Says that a block which was acquired here may be given back on another thread.
    pub(crate) fn depart(&self) {
        self.owned.set(self.owned.get() - 1);
    }

    /// Says that a block which may come from another thread is about to be given back here.
    pub(crate) fn arrive(&self) {
        // Without a home it goes straight to the pool.
        if self.home.get().is_none() {
            return;
        }
        self.owned.set(self.owned.get() + 1);
        if self.owned.get() > OWNED_BLOCKS {
            self.shrink();
        }
    }

    /// Whether `acquire` is a matter of a few instructions.
    #[inline(always)]
    pub(crate) fn has_spare(&self) -> bool {
        self.free.get().is_some()
    }

    #[cold]
    fn refill(&self) -> Option<BlockRef> {
        self.register()?;
        let recorder = recorder::get()?;
        for _ in 0..REFILL {
            let Some(block) = recorder.blocks.acquire() else { break };
            self.keep(block);
            self.owned.set(self.owned.get() + 1);
        }
        self.free.get()
    }

    /// Counts a sampled span that found no block: it started, ended and was dropped.
    #[cold]
    pub(crate) fn count_blockless(&self) {
        match self.home.get() {
            Some(home) => {
                bump(&home.started);
                count_drop(home, Reason::NoBlock);
            }
            None => recorder::get().map_or((), Recorder::count_lost),
        }
    }

    /// Ends the ownership of a block that has nothing left in it, and of those chained to it.
    #[inline(always)]
    pub(crate) fn release(&self, block: BlockRef) {
        if block.has(CHAINED | HAS_EXT | ORPHANED) || self.home.get().is_none() {
            return self.release_slowly(block);
        }
        self.keep(block);
    }

    #[inline(always)]
    fn keep(&self, block: BlockRef) {
        block.below.set(self.free.get());
        self.free.set(Some(block));
    }

    #[cold]
    fn release_slowly(&self, block: BlockRef) {
        if block.has(ORPHANED) {
            // Its pool is the parent process's; here nobody will ask for it again.
            return;
        }
        drop(take_ext(&block));
        let mut chained = block.chain.take();
        block.lower(CHAINED);
        self.give_back(block);
        while let (Some(next), Some(recorder)) = (chained, recorder::get()) {
            chained = next.chain.take();
            recorder.blocks.release(next);
        }
    }

    fn give_back(&self, block: BlockRef) {
        match recorder::get() {
            // A thread that was torn down keeps nothing.
            Some(recorder) if self.home.get().is_none() => recorder.blocks.release(block),
            Some(_) => self.keep(block),
            None => {}
        }
    }

    /// Gives free blocks back to the pool.
    #[cold]
    fn shrink(&self) {
        let Some(recorder) = recorder::get() else { return };
        while self.owned.get() > OWNED_BLOCKS / 2 {
            let Some(spare) = self.free.get() else { break };
            self.free.set(spare.below.get());
            self.owned.set(self.owned.get() - 1);
            recorder.blocks.release(spare);
        }
    }

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
                // Four at a time, past the end if need be. Volatile, to be read as they were written, word by word: a
                // wider load would wait until the stores, which may be a few instructions old, have left the buffer.
                items.add(at).write(tail.add(at).read_volatile());
                items.add(at + 1).write(tail.add(at + 1).read_volatile());
                items.add(at + 2).write(tail.add(at + 2).read_volatile());
                items.add(at + 3).write(tail.add(at + 3).read_volatile());
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

    fn detach_chunk(&self, recorder: &Recorder) {
        if !self.published.get().is_null() {
            recorder.chunks.detach(self.chunk.get());
        }
        self.published.set(ptr::null());
        self.written.set(FULL);
    }

    /// Makes the thread known, once. `None` when it is being torn down, or nothing was ever recorded.
    #[cold]
    fn register(&self) -> Option<&'static ThreadCounts> {
        if self.home.get().is_some() || self.dead.get() {
            return self.home.get();
        }
        let recorder = recorder::get()?;
        // Fails if the thread's destructors have run already; then nobody would clean up.
        if EXIT.try_with(|_| ()).is_err() {
            self.dead.set(true);
            return None;
        }
        self.ids.ensure_seeded();
        self.home.set(Some(recorder.threads.claim()));
        self.home.get()
    }

    /// Hands over everything this thread holds. Spans that end later on it are counted as lost.
    fn leave(&self) {
        self.dead.set(true);
        let (Some(home), Some(recorder)) = (self.home.take(), recorder::get()) else { return };
        self.detach_chunk(recorder);
        while let Some(block) = self.free.get() {
            self.free.set(block.below.get());
            recorder.blocks.release(block);
        }
        self.owned.set(0);
        home.release();
    }

    /// Forgets what belongs to the parent process. For a forked child, on its one thread.
    pub(crate) fn forget(&self) {
        // The spans that are open here end some time, and must not bring back the ones around them.
        while let Some(block) = self.current.get() {
            self.current.set(block.below.take());
        }
        self.free.set(None);
        self.owned.set(0);
        self.published.set(ptr::null());
        self.written.set(FULL);
        self.home.set(None);
        self.ids.forget();
    }
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        with(Local::leave);
    }
}

fn count_drop(home: &'static ThreadCounts, reason: Reason) {
    bump(&home.ended);
    bump(&home.dropped[reason as usize]);
}

/// Takes the ext out of a block.
pub(crate) fn take_ext(block: &Block) -> Option<Arc<Ext>> {
    if !block.has(HAS_EXT) {
        return None;
    }
    block.lower(HAS_EXT);
    // SAFETY: while HAS_EXT is up, the block owns one count of the `Arc` behind this pointer.
    Some(unsafe { Arc::from_raw(block.ext.replace(ptr::null()).cast::<Ext>()) })
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
        place.cast::<[Word; HEADER_WORDS]>().write(record::header(block, words, end, outcome));
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
