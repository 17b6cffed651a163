//! Each thread's own part: the current span, a few free blocks, the chunk it fills, its ids and counters.
//!
//! The hot path touches only this and the span's block. Everything that may be slow (a new chunk, more blocks, a thread
//! that is seen for the first time or for the last) is behind a cold call. The storage has no destructor, so it can be
//! used until the thread's very end; a second key with one cleans up, and from then on the thread is `dead`.

mod blocks;
mod writing;

use std::cell::Cell;
use std::ptr;

use crate::base::sync::AtomicU32;
use crate::base::word::Word;
use crate::record::block::{BlockRef, ENTERED};
use crate::record::bridge;
use crate::record::chunk::CHUNK_WORDS;
use crate::record::ids::Generator;
use crate::record::layout::HEADER_WORDS;
use crate::record::recorder;
use crate::record::threads::{Reason, ThreadCounts, bump};

pub(crate) use self::blocks::take_propagated;
#[cfg(has_tracing_emit)]
pub(crate) use self::writing::plain;

/// What `written` is when the chunk is full, or when there is none.
const FULL: u32 = CHUNK_WORDS as u32;
/// Words that a span's items may take in all, so that its record fits into a chunk with header and propagated.
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

    /// Leaves `block` and everything that was entered after it.
    ///
    /// Only a block that is on this thread's stack is followed to the one below it. That keeps the stack free of dead
    /// blocks: a block is given back only after it was left.
    #[inline(always)]
    pub(crate) fn pop_to(&self, block: BlockRef) {
        if self.current.get() == Some(block) {
            self.current.set(block.below.get());
        } else {
            self.pop_out_of_order(block);
        }
    }

    /// Leaves a block that is not the innermost one: a scope inside it was leaked, or a coroutine was suspended there.
    /// If a span around it ended first, the block was cut off then, and the stack stays as it is.
    #[cold]
    #[inline(never)]
    fn pop_out_of_order(&self, block: BlockRef) {
        if !self.is_entered(block) {
            return;
        }
        while let Some(top) = self.current.get() {
            self.current.set(top.below.get());
            if top == block {
                break;
            }
            cut_off(top);
            self.home.get().into_iter().for_each(|home| bump(&home.cut_off));
        }
    }

    /// Whether `block` is on this thread's stack.
    fn is_entered(&self, block: BlockRef) -> bool {
        let stack = std::iter::successors(self.current.get(), |block| block.below.get());
        !is_cut_off(block) && stack.into_iter().any(|entered| entered == block)
    }

    /// Takes `block` out, wherever in the stack it is, and leaves what was entered after it. If a scope around it has
    /// ended before, it is not there any more.
    pub(crate) fn remove(&self, block: BlockRef) {
        if self.current.get() == Some(block) {
            return self.pop_to(block);
        }
        bridge::left_out_of_order(block);
        if is_cut_off(block) {
            return;
        }
        let mut above = self.current.get();
        while let Some(candidate) = above {
            if candidate.below.get() == Some(block) {
                return candidate.below.set(block.below.get());
            }
            above = candidate.below.get();
        }
    }

    /// What others may read of this thread, if it is known.
    #[inline(always)]
    pub(crate) fn known_home(&self) -> Option<&'static ThreadCounts> {
        self.home.get()
    }

    /// The same, which makes the thread known.
    #[inline(always)]
    pub(crate) fn home(&self) -> Option<&'static ThreadCounts> {
        self.home.get().or_else(|| self.register())
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

/// Marks a block as entered nowhere, though its owner has not left it: its link leads to itself. Another API beside ours
/// goes back to where the block was entered together with the block around it.
fn cut_off(block: BlockRef) {
    block.below.set(Some(block));
    block.lower(ENTERED);
}

fn is_cut_off(block: BlockRef) -> bool {
    block.below.get() == Some(block)
}

/// Counts a span that ends and is not kept.
fn count_drop(home: &'static ThreadCounts, reason: Reason) {
    bump(&home.ended);
    bump(&home.dropped[reason as usize]);
}
