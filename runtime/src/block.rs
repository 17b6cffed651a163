//! Blocks: where an open span keeps its ids and what was recorded on it, until it ends.
//!
//! Blocks come from one bounded pool, so that an open span costs no allocation. A span that outgrows its block chains
//! further ones to it. A block has one owner at a time, a guard or a future, and only the thread that runs the owner
//! touches it; that is what makes the cells sound.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::callsite::{Callsite, Kind};
use crate::stack::IndexStack;
use crate::word::Word;

/// Words of a block that hold items.
pub(crate) const TAIL_WORDS: usize = 48;

/// A record will be made of it.
pub(crate) const RECORDING: u32 = 1;
/// Children are recorded.
pub(crate) const SAMPLED: u32 = 1 << 1;
/// No trace yet: a child begins one, with this block's ext.
pub(crate) const EMPTY: u32 = 1 << 2;
/// Goes to the sink of its ext.
pub(crate) const CAPTURED: u32 = 1 << 3;
/// Belongs to the process that this one was forked from.
pub(crate) const ORPHANED: u32 = 1 << 4;
/// Its clock has started.
pub(crate) const STARTED: u32 = 1 << 5;
/// Further blocks are chained to it.
pub(crate) const CHAINED: u32 = 1 << 6;
/// Times are nanoseconds since 1970 and not readings of the counter.
pub(crate) const UNIX_TIMES: u32 = 1 << 7;
/// Its parent is in another process.
pub(crate) const REMOTE_PARENT: u32 = 1 << 8;
/// The thread was already unwinding when it began.
pub(crate) const BEGAN_UNWINDING: u32 = 1 << 9;
/// It stands in the list of announced spans.
pub(crate) const ANNOUNCED: u32 = 1 << 10;
/// It was told of an error.
pub(crate) const FAILED: u32 = 1 << 11;
/// A poll of its future was unwound by a panic.
pub(crate) const UNWOUND: u32 = 1 << 15;
/// Its stream gave an error, and then was dropped.
pub(crate) const ENDED_BY_ERROR: u32 = 1 << 16;
/// Something was left out of it.
pub(crate) const INCOMPLETE: u32 = 1 << 14;
/// It has an ext.
pub(crate) const HAS_EXT: u32 = 1 << 12;
/// It stands for a span of another process.
pub(crate) const REMOTE: u32 = 1 << 13;
/// Another process began its trace, and said that the id is random: whoever is told of the id is told that, too.
pub(crate) const RANDOM: u32 = 1 << 20;

/// It was made while another tracing API is followed: see `bridge`.
pub(crate) const BRIDGED: u32 = 1 << 17;
/// While it is entered, the other API has it current too.
pub(crate) const ATTACHES: u32 = 1 << 18;
/// It is entered, and `seen` and `height` say how the other API stood on this thread.
pub(crate) const ENTERED: u32 = 1 << 19;

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

#[repr(C, align(64))]
pub(crate) struct Block {
    pub(crate) trace_id: Cell<[u64; 2]>,
    pub(crate) span_id: Cell<u64>,
    pub(crate) parent_id: Cell<u64>,
    pub(crate) start: Cell<u64>,
    pub(crate) end: Cell<u64>,
    pub(crate) callsite: Cell<&'static Callsite>,
    /// Below it on the thread's stack of scopes; the next one in a list of free blocks.
    pub(crate) below: Cell<Option<BlockRef>>,
    /// An `Arc<Ext>` made raw, or null.
    pub(crate) ext: Cell<*const ()>,
    pub(crate) counts: Counts,
    pub(crate) flags: Cell<u32>,
    index: u32,
    pub(crate) announced: Cell<u32>,
    /// Contexts that were attached to the other API when it was entered.
    pub(crate) height: Cell<u32>,
    /// The span that the other API had current when it was entered.
    pub(crate) seen: Cell<u64>,
    /// The first chained block.
    pub(crate) chain: Cell<Option<BlockRef>>,
    tail: UnsafeCell<[MaybeUninit<Word>; TAIL_WORDS]>,
}

/// A block that somebody owns. It is copied freely inside this crate; exactly one copy is the owner's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockRef(NonNull<Block>);

impl BlockRef {
    #[inline(always)]
    pub(crate) fn get(self) -> &'static Block {
        // SAFETY: the pool never frees its memory, and every block was initialised when it was first handed out.
        unsafe { self.0.as_ref() }
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
        let (used, words) = (usize::from(self.counts.used.get()), head.len() + crate::word::words_for(bytes.len()));
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

/// The pool.
pub(crate) struct Blocks {
    memory: Box<[UnsafeCell<MaybeUninit<Block>>]>,
    free: IndexStack,
}

// SAFETY: a block is reached through the index that `free` hands to one thread at a time, or through its owner.
unsafe impl Sync for Blocks {}
// SAFETY: as above.
unsafe impl Send for Blocks {}

static NOWHERE: Callsite = Callsite::unlinked("", Kind::Internal);

impl Blocks {
    pub(crate) fn new(count: usize) -> Self {
        let memory = Box::<[UnsafeCell<MaybeUninit<Block>>]>::new_uninit_slice(count);
        // SAFETY: an `UnsafeCell<MaybeUninit<_>>` has no invalid bit pattern, initialised or not.
        Blocks { memory: unsafe { memory.assume_init() }, free: IndexStack::new(count) }
    }

    /// A block that the caller owns, with nothing in it.
    pub(crate) fn acquire(&self) -> Option<BlockRef> {
        let index = self.free.pop()?;
        let place = self.memory[index as usize].get().cast::<Block>();
        // SAFETY: the index is ours alone. The tail stays uninitialised, everything before it is written.
        unsafe {
            (&raw mut (*place).trace_id).write(Cell::new([0; 2]));
            (&raw mut (*place).span_id).write(Cell::new(0));
            (&raw mut (*place).parent_id).write(Cell::new(0));
            (&raw mut (*place).start).write(Cell::new(0));
            (&raw mut (*place).end).write(Cell::new(0));
            (&raw mut (*place).callsite).write(Cell::new(&NOWHERE));
            (&raw mut (*place).below).write(Cell::new(None));
            (&raw mut (*place).ext).write(Cell::new(std::ptr::null()));
            (&raw mut (*place).counts).write(Counts::default());
            (&raw mut (*place).flags).write(Cell::new(0));
            (&raw mut (*place).index).write(index);
            (&raw mut (*place).announced).write(Cell::new(0));
            (&raw mut (*place).height).write(Cell::new(0));
            (&raw mut (*place).seen).write(Cell::new(0));
            (&raw mut (*place).chain).write(Cell::new(None));
        }
        NonNull::new(place).map(BlockRef)
    }

    /// Takes a block back from its owner.
    pub(crate) fn release(&self, block: BlockRef) {
        self.free.push(block.index);
    }

    /// Marks every block that was ever handed out as the parent process's. For a forked child, which has one thread.
    pub(crate) fn orphan_all(&self) {
        for place in &self.memory[..self.free.touched()] {
            // SAFETY: handed out once means initialised, or about to be by a thread that does not exist here; then the
            // write goes to memory that nobody reads. No other thread runs in a forked child.
            unsafe { (&raw mut (*place.get().cast::<Block>()).flags).write(Cell::new(ORPHANED)) };
        }
    }
}
