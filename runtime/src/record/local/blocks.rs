//! The thread's free blocks: taken from the pool a few at a time, and given back.

use std::ptr;
use std::sync::Arc;

use super::{Local, count_drop};
use crate::record::block::{Block, BlockRef, CHAINED, ENTERED, HAS_PROPAGATED, MIRRORED, ORPHANED, SURPLUS};
use crate::record::bridge;
use crate::record::propagated::Propagated;
use crate::record::recorder::{self, Recorder};
use crate::record::threads::{Reason, bump};

/// Blocks that a thread keeps. Above this, those it takes itself go back to the pool after one span, and when blocks
/// arrive from other threads it gives free ones back until it has half.
const OWNED_BLOCKS: i32 = 64;
/// Blocks a thread takes at a time.
const REFILL: u32 = 8;

impl Local {
    /// A block with nothing in it, if the pool has one. The caller sets its flags with `Block::begin`.
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
    #[inline(always)]
    pub(crate) fn depart(&self) {
        self.owned.set(self.owned.get() - 1);
    }

    /// Says that a block which may come from another thread is about to be given back here.
    #[inline(always)]
    pub(crate) fn arrive(&self, block: BlockRef) {
        // Without a home it goes straight to the pool, and one of the parent process goes nowhere.
        if block.has(ORPHANED) || self.home.get().is_none() {
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

    /// Puts blocks of the pool into the free list: a few, or one if the thread has many, which goes back after use.
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

    /// Counts a sampled span that found no block: it started, ended and was dropped.
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

    /// Ends the ownership of a block that has nothing left in it, and of those chained to it.
    #[inline(always)]
    pub(crate) fn release(&self, block: BlockRef) {
        block.close();
        if block.has(CHAINED | ENTERED | HAS_PROPAGATED | MIRRORED | ORPHANED | SURPLUS) || self.home.get().is_none() {
            return self.release_slowly(block);
        }
        self.keep(block);
    }

    /// `arrive` and `release` of a block that was never opened: a context.
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
            // Its pool is the parent process's; here nobody will ask for it again.
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
            // A thread that was torn down keeps nothing.
            recorder.blocks.release(block);
        } else if block.has(SURPLUS) {
            self.owned.set(self.owned.get() - 1);
            recorder.blocks.release(block);
        } else {
            self.keep(block);
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
}

/// Takes the propagated out of a block.
pub(crate) fn take_propagated(block: &Block) -> Option<Arc<Propagated>> {
    if !block.has(HAS_PROPAGATED) {
        return None;
    }
    block.lower(HAS_PROPAGATED);
    // SAFETY: while HAS_PROPAGATED is up, the block owns one count of the `Arc` behind this pointer.
    Some(unsafe { Arc::from_raw(block.propagated.replace(ptr::null()).cast::<Propagated>()) })
}
