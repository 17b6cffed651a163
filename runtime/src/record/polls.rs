//! Polls of timed spans, which record their busy time, and of watched spans, in which the watchdog detects stalls.
//!
//! Both are controlled by flags of blocks that are tested anyway: TIMED and WATCHED. Only the thread that runs the owner of a
//! block runs this code. The same thread writes the events of stalls; the watchdog reads only `Published`, never a block.

use std::sync::atomic::Ordering::Relaxed;

use crate::base::word::Word;
use crate::declare::callsite::{self, Callsite};
use crate::declare::key::Key;
use crate::declare::keys::{busy_seconds, longest_poll_seconds, polls, stall_seconds};
use crate::declare::value::Value;
use crate::record::block::{BlockRef, NAMED, RECORDING, TAIL_WORDS, TIMED, WATCHED};
use crate::record::clock;
use crate::record::fields::{self, Staged};
use crate::record::finished::Outcome;
use crate::record::item::{TAG_F64, TAG_SKIP, TAG_U64, keyed, tagged};
use crate::record::limits;
use crate::record::local::{self, Local};
use crate::record::published::Published;
use crate::record::tail;

/// The name of the event that is recorded on a span after a stall.
const STALL: &str = "tc.stall";

/// Returns the flags of a block for a span whose callsite has this state.
#[inline]
pub(crate) fn flags(state: u8) -> u32 {
    if state & (callsite::TIMED | callsite::WATCHED) == 0 {
        return 0;
    }
    let timed = if state & callsite::TIMED != 0 { TIMED } else { 0 };
    timed | if state & callsite::WATCHED != 0 { WATCHED | NAMED } else { 0 }
}

/// Begins a poll of a block with these flags, just before the block is entered.
#[inline]
pub(crate) fn enter(block: BlockRef, flags: u32) {
    if flags & WATCHED != 0 {
        local::with(|local| watch(local, block));
    }
    if flags & TIMED != 0 {
        begin_poll(block);
    }
}

/// Begins a poll, as `enter` does, of a block that is named and not timed, on a registered thread. In all other cases does
/// nothing and returns false; then call `enter`.
#[inline(always)]
pub(crate) fn enter_watched(block: BlockRef, flags: u32) -> bool {
    local::with(|local| {
        let Some(home) = local.known_home().filter(|_| flags & (TIMED | NAMED) == NAMED) else { return false };
        home.published.name(Some(block.callsite.get()));
        if !home.published.is_polling() {
            home.published.enter(address(block), clock::now());
        }
        true
    })
}

#[cold]
#[inline(never)]
fn watch(local: &Local, block: BlockRef) {
    let Some(home) = local.home() else { return };
    let is_polling = home.published.is_polling();
    if block.has(NAMED) {
        home.published.name(Some(block.callsite.get()));
    } else if !is_polling {
        // A context has no name.
        home.published.name(innermost(local));
    }
    if !is_polling {
        home.published.enter(address(block), clock::now());
    }
}

/// Ends a poll of a block that had these flags and was left. `is_open`: the caller still owns the block.
#[inline]
pub(crate) fn leave(block: BlockRef, flags: u32, is_open: bool) {
    if is_open && flags & TIMED != 0 {
        end_poll(block, clock::now());
    }
    if flags & WATCHED != 0 {
        unwatch(block, is_open);
    }
}

/// Ends a watched poll, if it is the outermost one of its thread. Otherwise publishes the innermost span of the poll that
/// continues.
#[inline(always)]
pub(crate) fn unwatch(block: BlockRef, is_open: bool) {
    local::with(|local| {
        let Some(home) = local.known_home() else { return };
        if home.published.mark().is_some() {
            return unwatch_reported(local, block, is_open);
        }
        if !home.published.is_outermost(address(block)) {
            return publish_innermost(local);
        }
        home.published.leave();
    });
}

/// Ends a watched poll inside a poll that was reported.
#[cold]
#[inline(never)]
fn unwatch_reported(local: &Local, block: BlockRef, is_open: bool) {
    let (Some(home), now) = (local.home(), clock::now()) else { return };
    if is_open {
        note(block, &home.published, now);
    }
    if home.published.is_outermost(address(block)) {
        home.published.settle(now);
        home.published.leave();
    } else {
        publish_innermost(local);
    }
}

/// Publishes the innermost span, after a function entered a watched span or a span inside the poll ended.
#[inline(never)]
pub(crate) fn publish_innermost(local: &Local) {
    local.home().into_iter().for_each(|home| home.published.name(innermost(local)));
}

/// Returns the callsite of the innermost named span entered on this thread; skips blocks without a name, such as contexts.
#[inline(always)]
fn innermost(local: &Local) -> Option<&'static Callsite> {
    let mut entered = local.current();
    while let Some(block) = entered {
        if block.has(NAMED) {
            return Some(block.callsite.get());
        }
        entered = block.below.get();
    }
    None
}

/// Records the event of a stall on this span, if the span is recorded, was named in the report of the stall, and has no such
/// event yet.
fn note(block: BlockRef, published: &Published, now: u64) {
    if !block.has(RECORDING) {
        return;
    }
    let Some(since) = published.take_mark(block.callsite.get()) else { return };
    let mut staged = Staged::new();
    if let Some(staged) = &mut staged {
        staged.attribute(stall_seconds::META, Value::F64(clock::seconds(since, now)));
    }
    fields::event_at(block, now, STALL, staged.as_ref());
}

/// Returns the id of a poll: the address of its block, because a block is in one poll at a time.
#[inline(always)]
fn address(block: BlockRef) -> u64 {
    std::ptr::from_ref(block.get()).addr() as u64
}

/// Writes the record of a completed span, and releases its block.
#[inline(always)]
pub(crate) fn record(local: &Local, block: BlockRef, end: u64) {
    if !local.record(block, end) {
        record_uncommon(local, block, end);
    }
}

#[cold]
#[inline(never)]
fn record_uncommon(local: &Local, block: BlockRef, end: u64) {
    if block.has(TIMED | WATCHED) {
        ending(local, block, end);
        block.lower(TIMED | WATCHED | NAMED);
        // Without these flags most spans are ordinary.
        if local.record(block, end) {
            return;
        }
    }
    local.record_slowly(block, end, Outcome::Ok);
}

/// Writes the record of a span with any flags and outcome, and releases its block.
#[cold]
#[inline(never)]
pub(crate) fn record_slowly(local: &Local, block: BlockRef, end: u64, outcome: Outcome) {
    ending(local, block, end);
    local.record_slowly(block, end, outcome);
}

/// Writes the record of a span whose owner may still use it. The block is not reused.
#[cfg(has_otlp)]
pub(crate) fn record_for_owner(local: &Local, block: BlockRef, end: u64, outcome: Outcome) {
    ending(local, block, end);
    local.record_for_owner(block, end, outcome);
}

fn ending(local: &Local, block: BlockRef, end: u64) {
    if block.has(TIMED) {
        end_poll(block, end);
    }
    if block.has(WATCHED)
        && let Some(home) = local.home()
    {
        if home.published.mark().is_some() {
            note(block, &home.published, end);
        }
        publish_innermost(local);
    }
}

/// The offsets of a timed span's words, from the position stored in its block: three attributes, and the reading at which the
/// poll began (0 between polls), which readers of records skip.
const BUSY: usize = 1;
const POLLS: usize = 3;
const LONGEST: usize = 5;
const BEGAN: usize = 8;
const WORDS: usize = 9;

#[inline(never)]
fn begin_poll(block: BlockRef) {
    if block.polls.get() != 0 || make_room(block) {
        put(block, BEGAN, clock::now().max(1));
    }
}

/// Writes the attributes of a timed span into its block. If there is no room, counts them as dropped, ends the timing of the
/// span and returns false.
#[cold]
#[inline(never)]
fn make_room(block: BlockRef) -> bool {
    let (at, attributes) = (tail::len(block), block.counts.attributes.get());
    let zero = Word::bits(0);
    let words: [Word; WORDS] = [
        keyed(busy_seconds::META, TAG_F64),
        zero,
        keyed(polls::META, TAG_U64),
        zero,
        keyed(longest_poll_seconds::META, TAG_F64),
        zero,
        tagged(TAG_SKIP),
        Word::bits(3),
        zero,
    ];
    let is_within = u32::from(attributes) + 3 <= limits::CURRENT.attributes.load(Relaxed);
    if !is_within || !tail::append(block, &words, &[]) {
        (0..3).for_each(|_| block.count_dropped(&block.counts.dropped_attributes));
        block.lower(TIMED);
        return false;
    }
    block.counts.attributes.set(attributes + 3);
    block.polls.set(at as u32 + 1);
    true
}

/// Adds the poll that ends at this reading to the span's busy time, if a poll has begun.
#[inline(never)]
fn end_poll(block: BlockRef, end: u64) {
    if block.polls.get() == 0 || bits(block, BEGAN) == 0 {
        return;
    }
    let seconds = clock::seconds(bits(block, BEGAN), end);
    put(block, BUSY, (f64::from_bits(bits(block, BUSY)) + seconds).to_bits());
    put(block, POLLS, bits(block, POLLS) + 1);
    put(block, LONGEST, f64::from_bits(bits(block, LONGEST)).max(seconds).to_bits());
    put(block, BEGAN, 0);
}

/// Returns one of the numbers that `make_room` wrote for a timed span. Most are in the span's first block.
#[inline(always)]
fn bits(block: BlockRef, word: usize) -> u64 {
    let at = block.polls.get() as usize - 1 + word;
    // SAFETY: `make_room` wrote a number there.
    if at < TAIL_WORDS { unsafe { block.word(at).as_bits() } } else { tail::bits(block, at) }
}

#[inline(always)]
fn put(block: BlockRef, word: usize, bits: u64) {
    let (at, word) = (block.polls.get() as usize - 1 + word, Word::bits(bits));
    if at < TAIL_WORDS { block.overwrite(at, word) } else { tail::overwrite(block, at, word) }
}
