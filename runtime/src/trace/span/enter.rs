//! Enters and leaves spans on this thread. Nothing here is generic, so a program contains each function once.

use crate::declare::callsite::Callsite;
use crate::record::block::{BlockRef, CAPTURED, MIRRORED, RECORDING, TIMED, WATCHED};
#[cfg(has_otlp)]
use crate::record::block::{UNIX_TIMES, UNPOLLED};
use crate::record::bridge;
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::heartbeat;
use crate::record::local::{self, Local};
use crate::record::polls;
use crate::trace::context;
use crate::trace::open;

/// Opens and enters a span without fields. Returns `None` if no block is needed or none is free.
#[inline(always)]
pub(super) fn open_and_enter(callsite: &'static Callsite) -> Option<BlockRef> {
    #[inline(never)]
    fn enter(block: BlockRef, callsite: &'static Callsite) {
        enter_opened(block, callsite, block.has(RECORDING));
    }
    let block = open::open(callsite);
    if let Some(block) = block {
        enter(block, callsite);
    }
    block
}

/// Enters an opened span, and starts its clock if it is recorded.
#[inline(always)]
pub(super) fn enter_opened(block: BlockRef, callsite: &'static Callsite, recording: bool) {
    local::with(|local| {
        local.push(block);
        if recording {
            start_clock(local, block, callsite);
        }
    });
}

/// Returns the clock reading at the start of a recorded span; `None` for no span or an unrecorded one.
#[inline]
pub(crate) fn start_reading(block: Option<BlockRef>) -> Option<u64> {
    block.filter(|block| block.has(RECORDING)).map(|block| block.start.get())
}

/// Starts the clock of a recorded span.
#[inline(always)]
pub(crate) fn start_clock(local: &Local, block: BlockRef, callsite: &'static Callsite) {
    if block.has(CAPTURED | MIRRORED | WATCHED) || callsite.heartbeat_seconds() != 0 {
        return start_uncommon(local, block, callsite);
    }
    local.count_started();
    block.start.set(clock::now());
    block.open();
}

/// Starts the clock of a span that is captured, watched, emitted to another API, or has a heartbeat. A separate function, so
/// that `start_clock` saves no registers for other spans.
#[cold]
#[inline(never)]
fn start_uncommon(local: &Local, block: BlockRef, callsite: &'static Callsite) {
    // Captured spans are not counted by the recorder.
    let recorded = !block.has(CAPTURED);
    if recorded {
        local.count_started();
    }
    block.start.set(clock::now());
    block.open();
    if recorded && callsite.heartbeat_seconds() != 0 {
        heartbeat::open(&block);
    }
    if block.has(WATCHED) {
        polls::publish_innermost(local);
    }
    bridge::started(block);
}

/// Leaves and ends a function's span now. All blocks above it on the stack are removed as well.
#[inline(never)]
pub(super) fn leave_now(block: BlockRef) {
    if !block.has(RECORDING) {
        return leave_unrecorded(block);
    }
    let end = clock::now();
    local::with(|local| {
        local.pop_to(block);
        polls::record(local, block, end);
    });
}

/// Leaves and ends a recorded span, at a clock reading.
#[inline(never)]
pub(super) fn leave_recorded(block: BlockRef, end: u64) {
    local::with(|local| {
        local.pop_to(block);
        polls::record(local, block, end);
    });
}

/// Leaves an unrecorded span and releases its block.
#[inline(never)]
pub(super) fn leave_unrecorded(block: BlockRef) {
    local::with(|local| {
        local.pop_to(block);
        local.release(block);
    });
}

/// Leaves and ends a span whose body panicked.
#[cold]
#[inline(never)]
pub(super) fn leave_panicked(block: BlockRef) {
    local::with(|local| {
        local.pop_to(block);
        finish(local, block, clock::now(), Outcome::Panicked);
    });
}

/// Ends all spans that are entered on this thread as panicked. Only for a process that is about to exit: the blocks are not
/// reused, because guards that are dropped later still refer to them.
#[cfg(has_otlp)]
pub(crate) fn end_entered_as_panicked() {
    local::with(|local| {
        while let Some(block) = local.current() {
            local.pop_to(block);
            // A block that was never polled is on the stack while its future is dropped: it is not a span.
            if block.has(RECORDING) && !block.has(UNPOLLED) {
                let end = if block.has(UNIX_TIMES) { clock::unix_now() } else { clock::now() };
                polls::record_for_owner(local, block, end, Outcome::Panicked);
            }
        }
    });
}

/// Writes the record of a span if it is recorded, and releases its block.
#[inline(always)]
pub(crate) fn finish(local: &Local, block: BlockRef, end: u64, outcome: Outcome) {
    if !block.has(RECORDING) {
        local.release(block);
    } else if outcome == Outcome::Ok {
        polls::record(local, block, end);
    } else {
        polls::record_slowly(local, block, end, outcome);
    }
}

/// The block of a span whose fields are being evaluated. If that user code panics, the block is released.
pub(super) struct Unfilled(pub(super) BlockRef);

impl Drop for Unfilled {
    #[cold]
    fn drop(&mut self) {
        local::with(|local| local.release(self.0));
    }
}

/// Keeps a block on this thread's stack until this guard is dropped.
pub(crate) struct OnStack(BlockRef);

impl OnStack {
    #[inline(always)]
    pub(crate) fn enter(block: BlockRef) -> Self {
        local::with(|local| {
            context::note(local, block);
            local.push(block);
        });
        OnStack(block)
    }
}

impl Drop for OnStack {
    #[inline(always)]
    fn drop(&mut self) {
        local::with(|local| local.pop_to(self.0));
        bridge::left(self.0);
    }
}

/// Keeps a block on this thread's stack, and observes a timed or watched span, while the owner of the span runs code inside it.
/// POLL: the code is one poll of work that continues later.
pub(super) struct Inside<const POLL: bool>(BlockRef);

impl<const POLL: bool> Inside<POLL> {
    const OBSERVED: u32 = if POLL { TIMED | WATCHED } else { WATCHED };

    #[inline(always)]
    pub(super) fn enter(block: BlockRef) -> Self {
        std::mem::forget(OnStack::enter(block));
        if block.has(Self::OBSERVED) {
            Self::observe(block, |block| polls::enter(block, block.flags.get()));
        }
        Inside(block)
    }

    #[cold]
    #[inline(never)]
    fn observe(block: BlockRef, poll: fn(BlockRef)) {
        if POLL { poll(block) } else { local::with(polls::publish_innermost) }
    }
}

impl<const POLL: bool> Drop for Inside<POLL> {
    #[inline(always)]
    fn drop(&mut self) {
        drop(OnStack(self.0));
        if self.0.has(Self::OBSERVED) {
            Self::observe(self.0, |block| polls::leave(block, block.flags.get(), true));
        }
    }
}
