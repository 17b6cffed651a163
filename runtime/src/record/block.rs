//! Blocks: where an open span keeps its ids and what was recorded on it, until it ends.
//!
//! Blocks come from one bounded pool, so that an open span costs no allocation. A span that outgrows its block chains
//! further ones to it. A block has one owner at a time, a guard or a future, and only the thread that runs the owner
//! touches it; that is what makes the cells sound. The exception is the head of a block, which the export thread may read
//! to tell which spans are open: its fields are atomics, and `life` says whether what was read belongs together.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::base::life::Life;
use crate::base::memory::{Places, Region};
use crate::base::stack::IndexStack;
use crate::base::word::Word;
use crate::declare::callsite::{Callsite, Kind};

/// Words of a block that hold items.
pub(crate) const TAIL_WORDS: usize = 48;

/// A record will be made of it.
pub(crate) const RECORDING: u32 = 1;
/// Children are recorded.
pub(crate) const SAMPLED: u32 = 1 << 1;
/// No trace yet: a child begins one, with this block's propagated.
pub(crate) const EMPTY: u32 = 1 << 2;
/// Goes to the sink of its propagated.
pub(crate) const CAPTURED: u32 = 1 << 3;
/// Belongs to the process that this one was forked from.
pub(crate) const ORPHANED: u32 = 1 << 4;
/// It belongs to a future or stream that was not polled yet, so its clock has not started.
pub(crate) const UNPOLLED: u32 = 1 << 5;
/// Further blocks are chained to it.
pub(crate) const CHAINED: u32 = 1 << 6;
/// Times are nanoseconds since 1970 and not readings of the counter.
pub(crate) const UNIX_TIMES: u32 = 1 << 7;
/// Its parent is in another process.
pub(crate) const REMOTE_PARENT: u32 = 1 << 8;
/// The thread was already unwinding when it began.
pub(crate) const BEGAN_UNWINDING: u32 = 1 << 9;
/// It is in the list of spans with a heartbeat.
pub(crate) const ANNOUNCED: u32 = 1 << 10;
/// It was told of an error.
pub(crate) const FAILED: u32 = 1 << 11;
/// A poll of its future was unwound by a panic.
pub(crate) const UNWOUND: u32 = 1 << 15;
/// Its stream gave an error, and then was dropped.
pub(crate) const ENDED_BY_ERROR: u32 = 1 << 16;
/// Something was left out of it.
pub(crate) const INCOMPLETE: u32 = 1 << 14;
/// It has an propagated.
pub(crate) const HAS_PROPAGATED: u32 = 1 << 12;
/// It stands for a span of another process.
pub(crate) const REMOTE: u32 = 1 << 13;
/// The id of its trace is not known to be random: another process made it and did not say so. Whoever is told the id is not
/// told that it is random. Ids that are made here are, so the flag is uncommon.
pub(crate) const NOT_RANDOM: u32 = 1 << 20;

/// Its thread had enough blocks when it took this one, and keeps it for one span only.
pub(crate) const SURPLUS: u32 = 1 << 21;

/// It was made while another tracing API is followed: see `bridge`.
pub(crate) const BRIDGED: u32 = 1 << 17;
/// While it is entered, the other API has it current too.
pub(crate) const ATTACHES: u32 = 1 << 18;
/// It is entered, and `seen` and `height` say how the other API stood on this thread.
pub(crate) const ENTERED: u32 = 1 << 19;

/// It is emitted to another tracing API: see `bridge::Mirror`.
pub(crate) const MIRRORED: u32 = 1 << 22;

// These two are in one byte, so that asking for either is one instruction.
/// It records how long it was polled: see `polls`.
pub(crate) const TIMED: u32 = 1 << 24;
/// Its thread publishes that it is polled: see `polls`. A context has it from the span that it was taken from.
pub(crate) const WATCHED: u32 = 1 << 25;
/// Its thread publishes its callsite while it is the innermost one.
pub(crate) const NAMED: u32 = 1 << 26;

/// What was recorded, and what was left out because of a limit.
///
/// A cell for each and not one around them all, so that what was stored narrowly is loaded narrowly too.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) attributes: Cell<u16>,
    pub(crate) events: Cell<u16>,
    pub(crate) links: Cell<u16>,
    pub(crate) dropped_attributes: Cell<u16>,
    pub(crate) dropped_events: Cell<u16>,
    pub(crate) dropped_links: Cell<u16>,
    /// Words in this block's tail.
    pub(crate) used: Cell<u16>,
    /// Words in the chained blocks' tails.
    pub(crate) chained: Cell<u16>,
}

impl Counts {
    #[inline(always)]
    pub(crate) fn reset(&self) {
        self.attributes.set(0);
        self.events.set(0);
        self.links.set(0);
        self.dropped_attributes.set(0);
        self.dropped_events.set(0);
        self.dropped_links.set(0);
        self.used.set(0);
        self.chained.set(0);
    }
}

/// Adds one to a count, up to its limit.
pub(crate) fn count(counter: &Cell<u16>) {
    counter.set(counter.get().saturating_add(1));
}

/// A number in a block's head.
///
/// Only the owner writes, and it writes atomically. So its own reads need not be atomic, which lets the compiler drop, merge
/// and widen them; `get` is for the owner alone, as it is with a cell. Other threads read with `shared`.
#[derive(Default)]
pub(crate) struct Number(AtomicU64);

impl Number {
    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        // SAFETY: only the caller, the block's owner, writes here; other threads only read.
        unsafe { self.0.as_ptr().read() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, number: u64) {
        self.0.store(number, Relaxed);
    }

    #[cfg(has_otlp)]
    fn shared(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A trace id in a block's head; see `Number`.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct Trace([AtomicU64; 2]);

impl Trace {
    #[inline(always)]
    pub(crate) fn get(&self) -> [u64; 2] {
        // SAFETY: an atomic has the layout of its number; only the caller, the block's owner, writes here.
        unsafe { ptr::from_ref(&self.0).cast::<[u64; 2]>().read() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, [upper, lower]: [u64; 2]) {
        self.0[0].store(upper, Relaxed);
        self.0[1].store(lower, Relaxed);
    }

    #[cfg(has_otlp)]
    fn shared(&self) -> [u64; 2] {
        [self.0[0].load(Relaxed), self.0[1].load(Relaxed)]
    }
}

/// The flags in a block's head; see `Number`.
#[derive(Default)]
pub(crate) struct Flags(AtomicU32);

impl Flags {
    #[inline(always)]
    pub(crate) fn get(&self) -> u32 {
        // SAFETY: only the caller, the block's owner, writes here; other threads only read.
        unsafe { self.0.as_ptr().read() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, flags: u32) {
        self.0.store(flags, Relaxed);
    }

    #[cfg(has_otlp)]
    fn shared(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

/// The callsite in a block's head. Any thread may read it.
#[derive(Default)]
pub(crate) struct Site(AtomicPtr<Callsite>);

impl Site {
    #[inline(always)]
    pub(crate) fn get(&self) -> &'static Callsite {
        // SAFETY: `set` stores only addresses of `&'static Callsite`, and every block gets one when it leaves the pool.
        unsafe { &*self.0.load(Relaxed) }
    }

    #[inline(always)]
    pub(crate) fn set(&self, callsite: &'static Callsite) {
        self.0.store(ptr::from_ref(callsite).cast_mut(), Relaxed);
    }
}

/// All bits zero is a block that was never used.
#[repr(C, align(64))]
pub(crate) struct Block {
    pub(crate) trace_id: Trace,
    pub(crate) span_id: Number,
    pub(crate) parent_id: Number,
    pub(crate) start: Number,
    pub(crate) end: Cell<u64>,
    pub(crate) callsite: Site,
    /// Below it on the thread's stack of scopes; the next one in a list of free blocks.
    pub(crate) below: Cell<Option<BlockRef>>,
    /// An `Arc<Propagated>` made raw, or null.
    pub(crate) propagated: Cell<*const ()>,
    pub(crate) counts: Counts,
    pub(crate) flags: Flags,
    /// From the start of a span's clock to its end.
    life: Life,
    index: Cell<u32>,
    pub(crate) heartbeat_slot: Cell<u32>,
    /// Contexts that were attached to the other API when it was entered.
    pub(crate) height: Cell<u32>,
    /// One more than the place in its tail where a timed span has its polls; 0 before the first one.
    pub(crate) polls: Cell<u32>,
    /// The span that the other API had current when it was entered.
    pub(crate) seen: Cell<u64>,
    /// The first chained block.
    pub(crate) chain: Cell<Option<BlockRef>>,
    tail: UnsafeCell<[MaybeUninit<Word>; TAIL_WORDS]>,
}

/// The head of a block whose span is open, as another thread read it.
#[cfg(has_otlp)]
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) trace_id: [u64; 2],
    pub(crate) span_id: u64,
    pub(crate) parent_id: u64,
    pub(crate) start: u64,
    pub(crate) flags: u32,
    pub(crate) callsite: &'static Callsite,
}

/// A block that somebody owns. It is copied freely inside this crate; exactly one copy is the owner's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRef(NonNull<HeldAcrossAwait_UseInSpan>);

/// Stands for a block in compile errors about a guard that is held across an `.await`: what the compiler names there is the
/// pointer inside of the guard. The name says what to do.
#[expect(non_camel_case_types, reason = "it is read in compile errors only")]
enum HeldAcrossAwait_UseInSpan {}

impl BlockRef {
    #[inline(always)]
    pub(crate) fn get(self) -> &'static Block {
        // SAFETY: the pool never frees its memory, and zeros are a valid block.
        unsafe { self.0.cast().as_ref() }
    }
}

impl std::ops::Deref for BlockRef {
    type Target = Block;

    #[inline(always)]
    fn deref(&self) -> &Block {
        self.get()
    }
}

impl Block {
    #[inline(always)]
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags.get() & flag != 0
    }

    #[inline(always)]
    pub(crate) fn raise(&self, flag: u32) {
        self.flags.set(self.flags.get() | flag);
    }

    #[inline(always)]
    pub(crate) fn lower(&self, flag: u32) {
        self.flags.set(self.flags.get() & !flag);
    }

    /// Sets the flags of a block that was acquired just now.
    #[inline(always)]
    pub(crate) fn begin(&self, flags: u32) {
        self.flags.set(flags | self.flags.get() & SURPLUS);
    }

    /// The clock of its span runs from now on, and others may read the head.
    #[inline(always)]
    pub(crate) fn open(&self) {
        self.life.begin();
    }

    /// Its span has ended, or was none: others must not read the head any more.
    #[inline(always)]
    pub(crate) fn close(&self) {
        self.life.end();
    }

    /// The head, if its span is open. For any thread.
    #[cfg(has_otlp)]
    fn head(&self) -> Option<Head> {
        self.life.read(|| Head {
            trace_id: self.trace_id.shared(),
            span_id: self.span_id.shared(),
            parent_id: self.parent_id.shared(),
            start: self.start.shared(),
            flags: self.flags.shared(),
            callsite: self.callsite.get(),
        })
    }

    /// Counts something that is left out.
    #[cold]
    pub(crate) fn count_dropped(&self, counter: &Cell<u16>) {
        self.raise(INCOMPLETE);
        count(counter);
    }

    /// Appends to the tail if all of it fits.
    #[inline(always)]
    pub(crate) fn append<const N: usize>(&self, words: [Word; N]) -> bool {
        let used = usize::from(self.counts.used.get());
        if used + N > TAIL_WORDS {
            return false;
        }
        for (at, word) in words.into_iter().enumerate() {
            // SAFETY: `used + N` words fit into the tail, and nobody holds a reference into it while it grows.
            unsafe { self.place(used + at).write(word) };
        }
        self.counts.used.set((used + N) as u16);
        true
    }

    /// Appends head words and bytes, padded to whole words, if all of it fits.
    #[inline]
    pub(crate) fn append_bytes(&self, head: &[Word], bytes: &[u8]) -> bool {
        let (used, words) =
            (usize::from(self.counts.used.get()), head.len() + crate::base::word::words_for(bytes.len()));
        if used + words > TAIL_WORDS {
            return false;
        }
        // SAFETY: the words fit into the tail; the last one is zeroed first because the bytes may fill a part of it.
        unsafe {
            let place = self.place(used);
            place.add(words - 1).write(Word::bits(0));
            place.copy_from_nonoverlapping(head.as_ptr(), head.len());
            place.add(head.len()).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        self.counts.used.set((used + words) as u16);
        true
    }

    /// A word of the tail that is in use.
    pub(crate) fn word(&self, at: usize) -> Word {
        assert!(at < usize::from(self.counts.used.get()));
        // SAFETY: in bounds and initialised, because it is in use.
        unsafe { self.place(at).read() }
    }

    /// Replaces a word of the tail that is in use.
    pub(crate) fn overwrite(&self, at: usize, word: Word) {
        assert!(at < usize::from(self.counts.used.get()));
        // SAFETY: in bounds, and no reference into the tail outlives a call of this crate's own code.
        unsafe { self.place(at).write(word) };
    }

    #[inline(always)]
    pub(crate) fn place(&self, at: usize) -> *mut Word {
        self.tail.get().cast::<Word>().wrapping_add(at)
    }
}

/// How many blocks are made ready before they are used.
#[cfg(not(loom))]
const AHEAD: usize = 256;

/// The pool.
pub(crate) struct Blocks {
    memory: Region<Block>,
    free: IndexStack,
}

// SAFETY: a block is reached through the index that `free` hands to one thread at a time, or through its owner.
unsafe impl Sync for Blocks {}
// SAFETY: as above.
unsafe impl Send for Blocks {}

static NOWHERE: Callsite = Callsite::unlinked("", Kind::Internal);

impl Blocks {
    pub(crate) fn new(places: Places) -> Self {
        // SAFETY: zeros are a block that was never used: empty cells, no links, atomics of zero, a tail without words.
        Blocks { memory: unsafe { Region::zeroed(places.count) }, free: IndexStack::new(places) }
    }

    /// Has the memory of the next blocks ready before they are used for the first time.
    #[cfg(not(loom))]
    pub(crate) fn prepare(&self) {
        self.free.prepare(AHEAD, |next| self.memory.prepare(next));
    }

    /// Whether at least half of the reserved blocks were never needed.
    pub(crate) fn are_plenty(&self) -> bool {
        self.free.touched() <= self.free.reserved() / 2
    }

    /// A block that the caller owns, with nothing in it.
    pub(crate) fn acquire(&self) -> Option<BlockRef> {
        let index = self.free.pop()?;
        let block = &self.memory[index as usize];
        block.index.set(index);
        block.callsite.set(&NOWHERE);
        block.counts.reset();
        block.flags.set(0);
        block.chain.set(None);
        Some(BlockRef(NonNull::from(block).cast()))
    }

    /// Calls `visit` with the head of each block whose span is open, as far as it does not end meanwhile.
    #[cfg(has_otlp)]
    pub(crate) fn for_each_open(&self, visit: impl FnMut(Head)) {
        self.memory[..self.free.touched()].iter().filter_map(Block::head).for_each(visit);
    }

    /// Takes a block back from its owner.
    pub(crate) fn release(&self, block: BlockRef) {
        self.free.push(block.index.get());
    }

    /// Marks every block that was ever handed out as the parent process's. For a forked child, which has one thread.
    pub(crate) fn orphan_all(&self) {
        self.memory[..self.free.touched()].iter().for_each(|block| block.flags.set(ORPHANED));
    }
}

#[cfg(all(test, has_otlp))]
mod tests {
    use super::*;

    /// The owner writes atomically and reads plainly while another thread reads the head. Under miri this finds data races.
    #[test]
    fn a_head_that_another_thread_reads_is_of_one_span() {
        let blocks = Blocks::new(Places::fixed(1));
        let block = blocks.acquire().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    blocks.for_each_open(|head| {
                        assert_eq!(head.trace_id, [head.span_id, head.span_id], "two spans in one head");
                        assert_eq!((head.parent_id, head.start), (head.span_id, head.span_id));
                    });
                }
            });
            for number in 1..=100 {
                block.begin(RECORDING);
                block.trace_id.set([number; 2]);
                block.span_id.set(number);
                block.parent_id.set(number);
                block.start.set(number);
                block.open();
                assert!(block.has(RECORDING));
                assert_eq!((block.trace_id.get(), block.start.get()), ([number; 2], number));
                block.close();
            }
        });
        let open = || {
            let mut open = 0;
            blocks.for_each_open(|_| open += 1);
            open
        };
        assert_eq!(open(), 0);
        block.open();
        assert_eq!(open(), 1);
        block.close();
        blocks.release(block);
    }
}
