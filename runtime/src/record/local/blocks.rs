//! The thread's free blocks, which are taken from the pool a few at a time.

use std::ptr;
use std::sync::Arc;

use super::{Local, count_drop};
use crate::record::block::{Block, BlockRef, CHAINED, ENTERED, HAS_PROPAGATED, MIRRORED, ORPHANED, SURPLUS};
use crate::record::bridge;
use crate::record::propagated::Propagated;
use crate::record::recorder::{self, Recorder};
use crate::record::threads::{Reason, bump};

/// The number of blocks that a thread keeps. Once it owns this many, blocks newly taken from the pool return there after one
/// span. If more arrive from other threads, the thread returns free blocks until it owns half of this number.
const OWNED_BLOCKS: i32 = 64;
/// The number of blocks that a thread takes from the pool at a time.
const REFILL: u32 = 8;

impl Local {
    /// Takes an empty block from the thread's free blocks or from the pool; `None` if neither has one. The caller sets the flags
    /// of the block with `Block::begin`.
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

    /// Marks a block acquired on this thread as one that may be released on another.
    #[inline(always)]
    pub(crate) fn depart(&self) {
        self.owned.set(self.owned.get() - 1);
    }

    /// Counts a block, possibly from another thread, as owned by this thread, which is about to release the block.
    #[inline(always)]
    pub(crate) fn arrive(&self, block: BlockRef) {
        // Without registered thread storage the block returns to the pool; a block of the parent process is not reused.
        if block.has(ORPHANED) || self.home.get().is_none() {
            return;
        }
        self.owned.set(self.owned.get() + 1);
        if self.owned.get() > OWNED_BLOCKS {
            self.shrink();
        }
    }

    /// Returns whether `acquire` takes only a few instructions.
    #[inline(always)]
    pub(crate) fn has_spare(&self) -> bool {
        self.free.get().is_some()
    }

    /// Fills the free list from the pool: with a few blocks, or with one that returns after use if the thread has many. Returns
    /// the first free block; `None` if the pool is empty or the thread cannot be registered.
    #[cold]
    fn refill(&self) -> Option<BlockRef> {
        self.register()?;
        let recorder = recorder::get()?;
        let surplus = self.owned.get() >= OWNED_BLOCKS;
        for _ in 0..if surplus { 1 } else { REFILL } {
            let Some(block) = recorder.blocks.acquire() else { break };
            block.flags.set(if surplus { SURPLUS } else { 0 });
            self.keep(block);
            self.owned.set(self.owned.get() + 1);
        }
        self.free.get()
    }

    /// Counts a sampled span without a free block: it started, ended and was dropped.
    #[cold]
    pub(crate) fn count_blockless(&self) {
        match self.home.get() {
            Some(home) => {
                bump(&home.started);
                count_drop(home, Reason::TooManyOpenSpans);
            }
            None => recorder::get().map_or((), Recorder::count_lost),
        }
    }

    /// Releases a block whose items are no longer needed, and the blocks chained to it.
    #[inline(always)]
    pub(crate) fn release(&self, block: BlockRef) {
        block.close();
        if block.has(CHAINED | ENTERED | HAS_PROPAGATED | MIRRORED | ORPHANED | SURPLUS) || self.home.get().is_none() {
            return self.release_slowly(block);
        }
        self.keep(block);
    }

    /// Counts a block as arrived and releases it, as `arrive` and `release` do. For the block of a context, which was never
    /// opened.
    #[inline(always)]
    pub(crate) fn release_arriving(&self, block: BlockRef) {
        let is_plain = !block.has(CHAINED | ENTERED | HAS_PROPAGATED | MIRRORED | ORPHANED | SURPLUS);
        if !is_plain || self.home.get().is_none() || self.owned.get() >= OWNED_BLOCKS {
            return self.release_arriving_slowly(block);
        }
        self.owned.set(self.owned.get() + 1);
        self.keep(block);
    }

    #[cold]
    #[inline(never)]
    fn release_arriving_slowly(&self, block: BlockRef) {
        self.arrive(block);
        self.release(block);
    }

    #[inline(always)]
    pub(super) fn keep(&self, block: BlockRef) {
        block.below.set(self.free.get());
        self.free.set(Some(block));
    }

    #[cold]
    fn release_slowly(&self, block: BlockRef) {
        if block.has(ORPHANED) {
            // Its pool belongs to the parent process and is not used here.
            return;
        }
        bridge::left(block);
        bridge::ended(block);
        drop(take_propagated(&block));
        let mut chained = block.chain.take();
        block.lower(CHAINED);
        self.give_back(block);
        while let (Some(next), Some(recorder)) = (chained, recorder::get()) {
            chained = next.chain.take();
            recorder.blocks.release(next);
        }
    }

    fn give_back(&self, block: BlockRef) {
        let Some(recorder) = recorder::get() else { return };
        if self.home.get().is_none() {
            // A thread in teardown keeps no blocks.
            recorder.blocks.release(block);
        } else if block.has(SURPLUS) {
            self.owned.set(self.owned.get() - 1);
            recorder.blocks.release(block);
        } else {
            self.keep(block);
        }
    }

    /// Returns free blocks to the pool until the thread owns half of `OWNED_BLOCKS`.
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
}

/// Takes the propagated state out of a block; `None` if the block has none.
pub(crate) fn take_propagated(block: &Block) -> Option<Arc<Propagated>> {
    if !block.has(HAS_PROPAGATED) {
        return None;
    }
    block.lower(HAS_PROPAGATED);
    // SAFETY: while HAS_PROPAGATED is set, the block owns one count of the `Arc` behind this pointer.
    Some(unsafe { Arc::from_raw(block.propagated.replace(ptr::null()).cast::<Propagated>()) })
}
