//! The thread-local part of the recorder: the current span, a few free blocks, the chunk being filled, ids and counters.
//!
//! The hot path touches only this storage and the span's block. Every operation that may be slow (a new chunk, more blocks, the
//! first or last use by a thread) is behind a cold call. The storage has no destructor, so it is usable until the thread's very
//! end; a second thread-local with a destructor cleans up, and from then on the thread is `dead`.

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

/// The value of `written` when the chunk is full, or when there is none.
const FULL: u32 = CHUNK_WORDS as u32;
/// The maximum number of words of a span's items, so that its record fits into a chunk with header and propagated state.
pub(crate) const MAX_ITEM_WORDS: usize = CHUNK_WORDS - HEADER_WORDS - 2;

pub(crate) struct Local {
    current: Cell<Option<BlockRef>>,
    free: Cell<Option<BlockRef>>,
    /// The number of blocks that belong to this thread: in its free list, or in a span that began here and will end here. A block
    /// whose span may end on another thread is subtracted when it departs, and added when it arrives.
    owned: Cell<i32>,
    /// The chunk being filled, and the number of words written to it; `FULL` if there is none.
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

/// Runs `f` with the calling thread's part of the recorder. Works until the thread's very end.
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

    /// Returns the innermost span or context that is entered on this thread; `None` if nothing is entered.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<BlockRef> {
        self.current.get()
    }

    /// Pushes a block onto the thread's stack of scopes.
    #[inline(always)]
    pub(crate) fn push(&self, block: BlockRef) {
        block.below.set(self.current.get());
        self.current.set(Some(block));
    }

    /// Removes `block` and everything above it from the stack.
    ///
    /// Follows the link to the block below only if `block` is on this thread's stack. The stack therefore contains no released
    /// block: a block is released only after it was left.
    #[inline(always)]
    pub(crate) fn pop_to(&self, block: BlockRef) {
        if self.current.get() == Some(block) {
            self.current.set(block.below.get());
        } else {
            self.pop_out_of_order(block);
        }
    }

    /// Removes a block that is not the innermost one, and cuts off everything above it: a scope inside it was leaked, or a
    /// coroutine was suspended there. If an outer span ended first, the block was cut off then, and the stack does not change.
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

    /// Returns whether `block` is on this thread's stack.
    fn is_entered(&self, block: BlockRef) -> bool {
        let stack = std::iter::successors(self.current.get(), |block| block.below.get());
        !is_cut_off(block) && stack.into_iter().any(|entered| entered == block)
    }

    /// Removes `block` from any position in the stack; blocks above it stay entered. Does not change the stack if an outer scope
    /// has ended before, because the block is not on the stack any more.
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

    /// Returns the shared counters and state of this thread, if it is registered.
    #[inline(always)]
    pub(crate) fn known_home(&self) -> Option<&'static ThreadCounts> {
        self.home.get()
    }

    /// Returns the shared counters and state of this thread, and registers the thread if necessary; `None` if it cannot be
    /// registered.
    #[inline(always)]
    pub(crate) fn home(&self) -> Option<&'static ThreadCounts> {
        self.home.get().or_else(|| self.register())
    }

    /// Registers the thread. Returns `None` during the thread's teardown, or if the process has no recorder.
    #[cold]
    fn register(&self) -> Option<&'static ThreadCounts> {
        if self.home.get().is_some() || self.dead.get() {
            return self.home.get();
        }
        let recorder = recorder::get()?;
        // Fails if the thread's destructors have run already; then the counters would never be released.
        if EXIT.try_with(|_| ()).is_err() {
            self.dead.set(true);
            return None;
        }
        self.ids.ensure_seeded();
        self.home.set(Some(recorder.threads.claim()));
        self.home.get()
    }

    /// Releases everything this thread holds. Spans that end on this thread later are counted as lost.
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

    /// Forgets everything that belongs to the parent process. For a forked child, on its one thread.
    pub(crate) fn forget(&self) {
        // Spans that are open here may still end, and must not make the outer ones current again.
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

/// Marks a block that its owner has not left as not entered, by linking it to itself. A bridged API is restored together with the
/// outer block.
fn cut_off(block: BlockRef) {
    block.below.set(Some(block));
    block.lower(ENTERED);
}

fn is_cut_off(block: BlockRef) -> bool {
    block.below.get() == Some(block)
}

/// Counts a span as ended and dropped.
fn count_drop(home: &'static ThreadCounts, reason: Reason) {
    bump(&home.ended);
    bump(&home.dropped[reason as usize]);
}
