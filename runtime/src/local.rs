//! Each thread's own part: the current span, a few free blocks, the chunk it fills, its ids and counters.
//!
//! The hot path touches only this and the span's block. Everything that may be slow (a new chunk, more blocks, a thread
//! that is seen for the first time or for the last) is behind a cold call. The storage has no destructor, so it can be
//! used until the thread's very end; a second key with one cleans up, and from then on the thread is `dead`.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use crate::block::{Block, BlockRef, CAPTURED, CHAINED, HAS_EXT, ORPHANED, TAIL_WORDS};
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

/// Words that are copied at a time, initialised or not.
const COPY_WORDS: usize = 4;
type Step = MaybeUninit<[Word; COPY_WORDS]>;
const _: () = assert!(TAIL_WORDS.is_multiple_of(COPY_WORDS));

/// Free blocks a thread keeps for itself; above this it gives half of them back.
const SPARE_BLOCKS: u32 = 32;
/// Blocks a thread takes at a time.
const REFILL: u32 = 8;
/// Words that a span's items may take in all, so that its record fits into a chunk with header and ext.
pub(crate) const MAX_ITEM_WORDS: usize = CHUNK_WORDS - HEADER_WORDS - 2;

pub(crate) struct Local {
    current: Cell<Option<BlockRef>>,
    free: Cell<Option<BlockRef>>,
    spare: Cell<u32>,
    /// Where the next record goes, and how many words are left there.
    place: Cell<*mut Word>,
    room: Cell<u32>,
    written: Cell<u32>,
    published: Cell<*const AtomicU32>,
    chunk: Cell<u32>,
    home: Cell<Option<Home>>,
    dead: Cell<bool>,
    pub(crate) ids: Generator,
}

/// Where a registered thread belongs.
#[derive(Clone, Copy)]
struct Home {
    recorder: &'static Recorder,
    counts: &'static ThreadCounts,
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
            spare: Cell::new(0),
            place: Cell::new(ptr::null_mut()),
            room: Cell::new(0),
            written: Cell::new(0),
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
        self.spare.set(self.spare.get().wrapping_sub(1));
        block.counts.reset();
        Some(block)
    }

    #[cold]
    fn refill(&self) -> Option<BlockRef> {
        let home = self.register()?;
        for _ in 0..REFILL {
            let Some(block) = home.recorder.blocks.acquire() else { break };
            self.keep(block);
        }
        self.free.get()
    }

    /// Counts a sampled span that found no block: it started, ended and was dropped.
    #[cold]
    pub(crate) fn count_blockless(&self) {
        match self.home.get() {
            Some(home) => {
                bump(&home.counts.started);
                count_drop(home, Reason::NoBlock);
            }
            None => recorder::get().map_or((), Recorder::count_lost),
        }
    }

    /// Ends the ownership of a block that has nothing left in it, and of those chained to it.
    #[inline(always)]
    pub(crate) fn release(&self, block: BlockRef) {
        if block.has(CHAINED | HAS_EXT | ORPHANED) || self.home.get().is_none() || self.spare.get() >= SPARE_BLOCKS {
            return self.release_slowly(block);
        }
        self.keep(block);
    }

    #[inline(always)]
    fn keep(&self, block: BlockRef) {
        block.below.set(self.free.get());
        self.free.set(Some(block));
        self.spare.set(self.spare.get() + 1);
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
        while let Some(next) = chained {
            chained = next.chain.take();
            self.give_back(next);
        }
    }

    fn give_back(&self, block: BlockRef) {
        if self.home.get().is_some() && self.spare.get() < SPARE_BLOCKS {
            return self.keep(block);
        }
        let Some(recorder) = recorder::get() else { return };
        recorder.blocks.release(block);
        while self.spare.get() > SPARE_BLOCKS / 2 {
            let Some(spare) = self.free.get() else { break };
            self.free.set(spare.below.get());
            self.spare.set(self.spare.get() - 1);
            recorder.blocks.release(spare);
        }
    }

    /// Counts a sampled span whose clock starts now. It has a block, so the thread that made it was registered;
    /// a future may be polled first on another one.
    #[inline(always)]
    pub(crate) fn count_started(&self) {
        if let Some(home) = self.home.get().or_else(|| self.register()) {
            bump(&home.counts.started);
        }
    }

    /// Writes the record of a span that ends now, and gives its block back.
    #[inline(always)]
    pub(crate) fn record(&self, block: BlockRef, end: u64, outcome: Outcome) {
        let used = usize::from(block.counts.used.get());
        let words = HEADER_WORDS + used;
        if words + COPY_WORDS > self.room.get() as usize || block.has(CHAINED | HAS_EXT | CAPTURED | ORPHANED) {
            return self.record_slowly(block, end, outcome);
        }
        // SAFETY: `room` words are ours from `place` on, with some to spare for the last step of the loop. The tail is
        // longer than `used` rounded up to a step (TAIL_WORDS is a multiple of it) and lies elsewhere.
        unsafe {
            let place = self.place.get();
            place.cast::<[Word; HEADER_WORDS]>().write(record::header(&block, words, end, outcome));
            let (items, mut at) = (place.add(HEADER_WORDS), 0);
            // A call of memcpy costs more than these few steps.
            while at < used {
                items.add(at).cast::<Step>().write(block.place(at).cast::<Step>().read());
                at += COPY_WORDS;
            }
        }
        self.publish(words);
        self.keep(block);
        if self.spare.get() > SPARE_BLOCKS {
            self.shrink();
        }
    }

    #[cold]
    fn shrink(&self) {
        let Some(block) = self.free.get() else { return };
        self.free.set(block.below.get());
        self.spare.set(self.spare.get() - 1);
        self.give_back(block);
    }

    /// Makes `words` words that were written at `place` visible to the reader, as one ended span.
    #[inline(always)]
    fn publish(&self, words: usize) {
        // SAFETY: `room` was not zero, so `place` and `published` belong to the chunk this thread owns.
        unsafe {
            self.place.set(self.place.get().add(words));
            self.written.set(self.written.get() + words as u32);
            (*self.published.get()).store(self.written.get(), Release);
        }
        self.room.set(self.room.get() - words as u32);
        if let Some(home) = self.home.get() {
            bump(&home.counts.ended);
        }
    }

    #[cold]
    fn record_slowly(&self, block: BlockRef, end: u64, outcome: Outcome) {
        if block.has(ORPHANED) {
            return;
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
            return recorder::get().map_or((), Recorder::count_lost);
        };
        let words = long_words(block, ext.is_some());
        if words > self.room.get() as usize && !self.next_chunk(home) {
            return count_drop(home, Reason::NoChunk);
        }
        // SAFETY: `room` words are ours from `place` on, and a record is never longer than a chunk (MAX_ITEM_WORDS).
        unsafe { write_record(self.place.get(), block, ext, words, end, outcome) };
        self.publish(words);
    }

    fn next_chunk(&self, home: Home) -> bool {
        self.detach_chunk(home);
        let Some(index) = home.recorder.chunks.acquire() else { return false };
        let (place, published) = home.recorder.chunks.writer(index);
        self.chunk.set(index);
        self.place.set(place);
        self.published.set(published);
        self.written.set(0);
        self.room.set(CHUNK_WORDS as u32);
        true
    }

    fn detach_chunk(&self, home: Home) {
        if !self.published.get().is_null() {
            home.recorder.chunks.detach(self.chunk.get());
        }
        self.published.set(ptr::null());
        self.room.set(0);
    }

    /// Makes the thread known, once. `None` when it is being torn down, or nothing was ever recorded.
    #[cold]
    fn register(&self) -> Option<Home> {
        if self.home.get().is_some() || self.dead.get() {
            return self.home.get();
        }
        let recorder = recorder::get()?;
        // Fails if the thread's destructors have run already; then nobody would clean up.
        if EXIT.try_with(|_| ()).is_err() {
            self.dead.set(true);
            return None;
        }
        self.home.set(Some(Home { recorder, counts: recorder.threads.claim() }));
        self.home.get()
    }

    /// Hands over everything this thread holds. Spans that end later on it are counted as lost.
    fn leave(&self) {
        self.dead.set(true);
        let Some(home) = self.home.take() else { return };
        self.detach_chunk(home);
        while let Some(block) = self.free.get() {
            self.free.set(block.below.get());
            home.recorder.blocks.release(block);
        }
        self.spare.set(0);
        home.counts.release();
    }

    /// Forgets what belongs to the parent process. For a forked child, on its one thread.
    pub(crate) fn forget(&self) {
        self.current.set(None);
        self.free.set(None);
        self.spare.set(0);
        self.published.set(ptr::null());
        self.room.set(0);
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

fn count_drop(home: Home, reason: Reason) {
    bump(&home.counts.ended);
    bump(&home.counts.dropped[reason as usize]);
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
unsafe fn write_record(place: *mut Word, block: &Block, ext: Option<Arc<Ext>>, words: usize, end: u64, outcome: Outcome) {
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
