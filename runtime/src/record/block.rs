//! Blocks: memory for the ids and items of open spans.
//!
//! Blocks come from one bounded pool, so an open span costs no allocation. A span that outgrows its block chains further ones to
//! it. A block has one owner at a time, a guard or a future, and only the thread that runs the owner touches it; therefore the
//! cells are sound. The exception is the head of a block, which the export thread may read to find open spans: its fields are
//! atomics, and `life` shows whether the values read belong to one span.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::base::life::Life;
use crate::base::memory::{Places, Region};
use crate::base::stack::IndexStack;
use crate::base::word::Word;
use crate::declare::callsite::{Callsite, Kind};

/// Words of a block that are available for items.
pub(crate) const TAIL_WORDS: usize = 48;

/// The span will be recorded when it ends.
pub(crate) const RECORDING: u32 = 1;
/// The trace is sampled: spans below this block are recorded.
pub(crate) const SAMPLED: u32 = 1 << 1;
/// The block holds a context without a trace: a child begins a new trace, with this block's propagated state.
pub(crate) const EMPTY: u32 = 1 << 2;
/// The span is recorded in the sink of its propagated state.
pub(crate) const CAPTURED: u32 = 1 << 3;
/// The block was inherited by a fork and belongs to the parent process, or its span was recorded while the owner may still use
/// the block. Such a block is not reused.
pub(crate) const ORPHANED: u32 = 1 << 4;
/// The future or stream of the span was not polled yet, so its clock has not started.
pub(crate) const UNPOLLED: u32 = 1 << 5;
/// Further blocks are chained to this one.
pub(crate) const CHAINED: u32 = 1 << 6;
/// The times are nanoseconds since 1970 and not readings of the counter.
pub(crate) const UNIX_TIMES: u32 = 1 << 7;
/// The parent is in another process.
pub(crate) const REMOTE_PARENT: u32 = 1 << 8;
/// The thread was already unwinding when the span began.
pub(crate) const BEGAN_UNWINDING: u32 = 1 << 9;
/// The span is in the list of spans with a heartbeat.
pub(crate) const ANNOUNCED: u32 = 1 << 10;
/// An error was recorded on the span.
pub(crate) const FAILED: u32 = 1 << 11;
/// A poll of the span's future was unwound by a panic.
pub(crate) const UNWOUND: u32 = 1 << 15;
/// The span's stream returned an error and then was dropped.
pub(crate) const ENDED_BY_ERROR: u32 = 1 << 16;
/// Some items of the span were dropped.
pub(crate) const INCOMPLETE: u32 = 1 << 14;
/// The block has propagated state.
pub(crate) const HAS_PROPAGATED: u32 = 1 << 12;
/// The block represents a span of another process.
pub(crate) const REMOTE: u32 = 1 << 13;
/// The trace id is not known to be random: another process created it without the random flag, so we do not pass that flag on.
/// Our own trace ids are random, so this flag is rare.
pub(crate) const NOT_RANDOM: u32 = 1 << 20;

/// The thread had enough blocks when it took this one, and returns it to the pool after one span.
pub(crate) const SURPLUS: u32 = 1 << 21;

/// The block was created while another tracing API is bridged: see `bridge`.
pub(crate) const BRIDGED: u32 = 1 << 17;
/// While the block is entered, its context is current in the other API as well.
pub(crate) const ATTACHES: u32 = 1 << 18;
/// The block is entered, and `seen` and `height` hold the state of the bridged API on this thread.
pub(crate) const ENTERED: u32 = 1 << 19;

/// The span is emitted to another tracing API: see `bridge::Mirror`.
pub(crate) const MIRRORED: u32 = 1 << 22;

// TIMED and WATCHED are in one byte, so that one instruction tests both.
/// The span records its busy time, the time spent in polls: see `polls`.
pub(crate) const TIMED: u32 = 1 << 24;
/// The thread publishes polls of the span: see `polls`. A context inherits the flag from the span it was copied from.
pub(crate) const WATCHED: u32 = 1 << 25;
/// The thread publishes the span's callsite while it is the innermost span.
pub(crate) const NAMED: u32 = 1 << 26;

/// The numbers of recorded items, and of items dropped because of a limit.
///
/// One cell per field and not one around all, so that each is loaded with the width with which it was stored.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) attributes: Cell<u16>,
    pub(crate) events: Cell<u16>,
    pub(crate) links: Cell<u16>,
    pub(crate) dropped_attributes: Cell<u16>,
    pub(crate) dropped_events: Cell<u16>,
    pub(crate) dropped_links: Cell<u16>,
    /// Words used in this block's tail.
    pub(crate) used: Cell<u16>,
    /// Words used in the tails of the chained blocks.
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

/// Increments a count; a count at its maximum stays unchanged.
pub(crate) fn count(counter: &Cell<u16>) {
    counter.set(counter.get().saturating_add(1));
}

/// A number in a block's head.
///
/// Only the owner writes, atomically. The owner's own reads therefore need not be atomic, so the compiler can drop, merge and
/// widen them. `get` is for the owner alone, as with a cell; other threads read with `shared`.
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

/// The memory of an open span or a context: a head with ids and flags, and a tail of items. All zeros until first used.
#[repr(C, align(64))]
pub(crate) struct Block {
    pub(crate) trace_id: Trace,
    pub(crate) span_id: Number,
    pub(crate) parent_id: Number,
    pub(crate) start: Number,
    pub(crate) end: Cell<u64>,
    pub(crate) callsite: Site,
    /// The block below on the thread's stack of scopes, or the next one in a list of free blocks.
    pub(crate) below: Cell<Option<BlockRef>>,
    /// The result of `Arc::<Propagated>::into_raw`, or null.
    pub(crate) propagated: Cell<*const ()>,
    pub(crate) counts: Counts,
    pub(crate) flags: Flags,
    /// Open from the start of the span's clock to its end.
    life: Life,
    index: Cell<u32>,
    pub(crate) heartbeat_slot: Cell<u32>,
    /// The number of contexts that were attached to the other API when this block was entered.
    pub(crate) height: Cell<u32>,
    /// The index of the polls of a timed span in its tail plus one; 0 before the first poll.
    pub(crate) polls: Cell<u32>,
    /// The span that was current in the other API when this block was entered.
    pub(crate) seen: Cell<u64>,
    /// The first chained block.
    pub(crate) chain: Cell<Option<BlockRef>>,
    tail: UnsafeCell<[MaybeUninit<Word>; TAIL_WORDS]>,
}

/// The head of an open span's block, as read by another thread.
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

/// A reference to an acquired block. The reference is copied freely inside this crate; exactly one copy belongs to the owner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRef(NonNull<HeldAcrossAwait_UseInSpan>);

/// A placeholder type for compile errors about a guard that is held across an `.await`: the compiler names the pointer inside the
/// guard, so this name shows what to do.
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

    /// Sets the flags of a newly acquired block.
    #[inline(always)]
    pub(crate) fn begin(&self, flags: u32) {
        self.flags.set(flags | self.flags.get() & SURPLUS);
    }

    /// Marks the span as open: its clock is running, and other threads may read the head.
    #[inline(always)]
    pub(crate) fn open(&self) {
        self.life.begin();
    }

    /// Marks the span as ended: other threads must not read the head any more.
    #[inline(always)]
    pub(crate) fn close(&self) {
        self.life.end();
    }

    /// Returns the head if the span is open. Callable on any thread.
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

    /// Counts a dropped item.
    #[cold]
    pub(crate) fn count_dropped(&self, counter: &Cell<u16>) {
        self.raise(INCOMPLETE);
        count(counter);
    }

    /// Appends the words to the tail. Returns false, without appending any, if not all of them fit.
    #[inline(always)]
    pub(crate) fn append<const N: usize>(&self, words: [Word; N]) -> bool {
        let used = usize::from(self.counts.used.get());
        if used + N > TAIL_WORDS {
            return false;
        }
        for (at, word) in words.into_iter().enumerate() {
            // SAFETY: `used + N` words fit into the tail, and no reference into it exists while it grows.
            unsafe { self.place(used + at).write(word) };
        }
        self.counts.used.set((used + N) as u16);
        true
    }

    /// Appends words, and bytes padded to whole words. Returns false, without appending any, if not all of them fit.
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

    /// Returns a used word of the tail.
    pub(crate) fn word(&self, at: usize) -> Word {
        assert!(at < usize::from(self.counts.used.get()));
        // SAFETY: in bounds and initialised, because it is in use.
        unsafe { self.place(at).read() }
    }

    /// Replaces a used word of the tail.
    pub(crate) fn overwrite(&self, at: usize, word: Word) {
        assert!(at < usize::from(self.counts.used.get()));
        // SAFETY: in bounds, and references into the tail do not outlive a call of this crate's own code.
        unsafe { self.place(at).write(word) };
    }

    #[inline(always)]
    pub(crate) fn place(&self, at: usize) -> *mut Word {
        self.tail.get().cast::<Word>().wrapping_add(at)
    }
}

/// The number of blocks whose memory is prepared before they are used.
#[cfg(not(loom))]
const AHEAD: usize = 256;

/// The pool of blocks.
pub(crate) struct Blocks {
    memory: Region<Block>,
    free: IndexStack,
}

// SAFETY: a block is reached through an index that `free` returns to one thread at a time, or through its owner.
unsafe impl Sync for Blocks {}
// SAFETY: for the reason given at `Sync`.
unsafe impl Send for Blocks {}

static NOWHERE: Callsite = Callsite::unlinked("", Kind::Internal);

impl Blocks {
    pub(crate) fn new(places: Places) -> Self {
        // SAFETY: zeros are a valid block: empty cells, no links, atomics of zero, an empty tail.
        Blocks { memory: unsafe { Region::zeroed(places.count) }, free: IndexStack::new(places) }
    }

    /// Prepares the memory of the next blocks before they are used for the first time.
    #[cfg(not(loom))]
    pub(crate) fn prepare(&self) {
        self.free.prepare(AHEAD, |next| self.memory.prepare(next));
    }

    /// Returns whether at least half of the reserved blocks were never needed.
    pub(crate) fn are_plenty(&self) -> bool {
        self.free.touched() <= self.free.reserved() / 2
    }

    /// Takes an empty block, which the caller then owns; `None` if no block is free.
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

    /// Calls `visit` with the head of each open span; a span that ends during the call may be skipped.
    #[cfg(has_otlp)]
    pub(crate) fn for_each_open(&self, visit: impl FnMut(Head)) {
        self.memory[..self.free.touched()].iter().filter_map(Block::head).for_each(visit);
    }

    /// Takes a block back from its owner.
    pub(crate) fn release(&self, block: BlockRef) {
        self.free.push(block.index.get());
    }

    /// Marks every block that was ever acquired as belonging to the parent process. For a forked child, which has one thread.
    pub(crate) fn orphan_all(&self) {
        self.memory[..self.free.touched()].iter().for_each(|block| block.flags.set(ORPHANED));
    }
}

#[cfg(all(test, has_otlp))]
mod tests {
    use super::*;

    /// The owner writes atomically and reads plainly while another thread reads the head. Miri detects data races here.
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
