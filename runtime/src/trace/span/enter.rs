//! Beginning and ending: what annotated functions call, and what futures carry.

use std::mem::ManuallyDrop;

use super::relatives::IntoParent;
use super::start::{End, Start};
use crate::declare::callsite::Callsite;
use crate::record::announce;
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
use crate::record::block::UNIX_TIMES;
use crate::record::block::{BlockRef, CAPTURED, HAS_EXT, RECORDING, REMOTE, UNPOLLED};
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::local::{self, Local};
use crate::trace::context::{self, Context};
use crate::trace::open;

/// The span of an annotated function that is on: begun by `start`, in front of the body; none if it is unsampled.
pub struct Starting {
    callsite: &'static Callsite,
    block: Option<BlockRef>,
}

/// Still holds the block only if the body panicked.
impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(block) = self.block {
            leave(block, clock::now(), Outcome::Panicked);
        }
    }
}

/// Runs a function that is on. `body` begins the span and does the work; `observe` sees its result if it is recorded.
#[inline(never)]
pub fn traced<R>(
    callsite: &'static Callsite,
    body: impl FnOnce(Option<&mut Starting>) -> R,
    observe: impl FnOnce(&R, &mut End),
) -> R {
    let mut starting = Starting { callsite, block: None };
    let result = body(Some(&mut starting));
    let Some(block) = starting.block.take() else { return result };
    if !block.has(RECORDING) {
        leave(block, 0, Outcome::Ok);
        return result;
    }
    let end = clock::now();
    // The user's closure in `result(..)` may panic.
    let unwinding = Starting { callsite, block: Some(block) };
    observe(&result, &mut End { block });
    std::mem::forget(unwinding);
    leave_recorded(block, end);
    result
}

/// Begins the span of a function; `fields` is called if it is recorded.
#[inline(always)]
pub fn start<F: FnOnce(&mut Start)>(starting: Option<&mut Starting>, fields: F) {
    if let Some(starting) = starting {
        starting.block = enter_block(starting.callsite, fields);
    }
}

/// Opens and enters a span.
#[inline(always)]
pub(crate) fn enter_block<F: FnOnce(&mut Start)>(callsite: &'static Callsite, fields: F) -> Option<BlockRef> {
    open::open(callsite).map(|block| entered(block, callsite, fields))
}

/// As `enter_block`, below a given parent.
#[inline(always)]
pub(crate) fn enter_block_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
) -> Option<BlockRef> {
    let block = open::open_under(callsite, &parent().into_parent())?;
    local::with(|local| context::note(local, block));
    Some(entered(block, callsite, fields))
}

/// When a span that is recorded started.
#[inline]
pub(crate) fn start_reading(block: Option<BlockRef>) -> Option<u64> {
    block.filter(|block| block.has(RECORDING)).map(|block| block.start.get())
}

/// As `start`, below a given parent.
#[inline(always)]
pub fn start_under<P: IntoParent, F: FnOnce(&mut Start)>(
    starting: Option<&mut Starting>,
    parent: impl FnOnce() -> P,
    fields: F,
) {
    if let Some(starting) = starting {
        starting.block = enter_block_under(starting.callsite, parent, fields);
    }
}

/// A span that was entered on this thread and has no guard yet.
pub struct Entered(pub(super) Option<BlockRef>);

impl Entered {
    pub(crate) fn block(&self) -> Option<BlockRef> {
        self.0
    }
}

/// Opens and enters a span for a scope; `fields` is called if it is recorded.
#[inline]
pub fn enter<F: FnOnce(&mut Start)>(callsite: &'static Callsite, fields: F) -> Option<Entered> {
    Some(Entered(enter_block(callsite, fields)))
}

/// As `enter`, below a given parent.
pub fn enter_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
) -> Option<Entered> {
    Some(Entered(enter_block_under(callsite, parent, fields)))
}

#[inline(always)]
fn entered<F: FnOnce(&mut Start)>(block: BlockRef, callsite: &'static Callsite, fields: F) -> BlockRef {
    if !block.has(RECORDING) {
        local::with(|local| local.push(block));
        return block;
    }
    let opened = Opened(block);
    Start::fill(block, fields);
    let block = ManuallyDrop::new(opened).0;
    local::with(|local| {
        local.push(block);
        start_clock(local, block, callsite);
    });
    block
}

/// Starts the clock of a span that is recorded.
#[inline(always)]
pub(crate) fn start_clock(local: &Local, block: BlockRef, callsite: &'static Callsite) {
    // Captured spans are not the recorder's.
    let recorded = !block.has(CAPTURED);
    if recorded {
        local.count_started();
    }
    block.start.set(clock::now());
    block.open();
    if recorded && callsite.announce_seconds() != 0 {
        announce::open(&block);
    }
}

/// Leaves a span that is entered by a function: everything above it on the stack goes with it.
pub(crate) fn leave(block: BlockRef, end: u64, outcome: Outcome) {
    local::with(|local| {
        local.pop_to(block);
        finish(local, block, end, outcome);
    });
}

/// Ends all spans that are entered on this thread, as panicked. Only for a process that ends: their blocks are not used
/// again, because guards that are dropped later still have them.
#[cfg(all(feature = "otlp", not(target_family = "wasm"), not(loom)))]
pub(crate) fn end_entered_as_panicked() {
    local::with(|local| {
        while let Some(block) = local.current() {
            local.pop_to(block);
            // The future of one that was never polled is being dropped: there is no span.
            if block.has(RECORDING) && !block.has(UNPOLLED) {
                let end = if block.has(UNIX_TIMES) { clock::unix_now() } else { clock::now() };
                local.record_for_owner(block, end, Outcome::Panicked);
            }
        }
    });
}

/// Leaves a recorded span that came to its end.
#[inline(never)]
pub(crate) fn leave_recorded(block: BlockRef, end: u64) {
    local::with(|local| {
        local.pop_to(block);
        local.record(block, end);
    });
}

/// Makes the record of a span, if there is to be one, and gives its block back.
#[inline(always)]
pub(crate) fn finish(local: &Local, block: BlockRef, end: u64, outcome: Outcome) {
    if !block.has(RECORDING) {
        local.release(block);
    } else if outcome == Outcome::Ok {
        local.record(block, end);
    } else {
        local.record_slowly(block, end, outcome);
    }
}

/// A block that was opened and not used: nothing is recorded.
pub(crate) struct Opened(pub(crate) BlockRef);

impl Drop for Opened {
    fn drop(&mut self) {
        local::with(|local| local.release(self.0));
    }
}

/// Opens a span for a future or a stream: parent and fields now, the clock at the first poll.
pub fn begin<F: FnOnce(&mut Start)>(callsite: &'static Callsite, fields: F) -> Option<Pending> {
    pending(open::open_movable(callsite)?, fields)
}

/// As `begin`, below a given parent.
pub fn begin_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
) -> Option<Pending> {
    pending(open::open_under(callsite, &parent().into_parent())?, fields)
}

fn pending<F: FnOnce(&mut Start)>(block: BlockRef, fields: F) -> Option<Pending> {
    let pending = Pending::new(block);
    if block.has(RECORDING) {
        Start::fill(block, fields);
    }
    Some(pending)
}

/// A span whose clock has not started, on its way to where it may end. Dropped, it was never there.
pub struct Pending(BlockRef);

// SAFETY: the block goes where its owner goes, and nobody else reaches it: it is on no thread's stack.
unsafe impl Send for Pending {}
// SAFETY: a shared reference gives no access.
unsafe impl Sync for Pending {}

impl Pending {
    fn new(block: BlockRef) -> Self {
        local::with(Local::depart);
        block.raise(UNPOLLED);
        Pending(block)
    }

    pub(crate) fn into_block(self) -> BlockRef {
        ManuallyDrop::new(self).0
    }

    /// A context that is no span, to be entered at each poll.
    pub(crate) fn context(context: &Context) -> Option<Pending> {
        let block = local::with(|local| local.acquire())?;
        context::fill(block, context);
        if block.has(REMOTE | HAS_EXT) {
            local::with(|local| context::share_capture(local, block));
        }
        Some(Pending::new(block))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        local::with(|local| {
            local.arrive(self.0);
            local.release(self.0);
        });
    }
}
