//! Opens spans: finds the parent, decides whether the span is recorded, and takes a block for it.
//!
//! The common cases come first and are short: a child of a recorded span, a child of an unsampled one. Roots, explicit parents
//! and captures are in separate functions.

use crate::declare::callsite::{CAPTURE, Callsite, Kind, NEW, RECORD, TIMED, WATCHED};
use crate::declare::switch;
use crate::record::block::{
    self, BRIDGED, BlockRef, CAPTURED, EMPTY, HAS_PROPAGATED, NOT_RANDOM, RECORDING, REMOTE, REMOTE_PARENT, SAMPLED,
};
use crate::record::bridge;
use crate::record::local::{self, Local};
use crate::record::polls;
use crate::record::sampling;
use crate::record::sampling::Sampler;
use crate::trace::context::{self, Context};
use crate::trace::outside_capture;

/// Opens a span below the current one. Returns `None` if no block is needed or none is free; the current span then stays the
/// parent. A block without RECORDING represents an unsampled root or outgoing call: spans below it are unsampled too.
#[inline(never)]
pub(crate) fn open(callsite: &'static Callsite) -> Option<BlockRef> {
    local::with(|local| match local.current() {
        Some(parent) if parent.has(SAMPLED) => child(local, callsite, parent),
        Some(parent) if !parent.has(EMPTY | BRIDGED) => unsampled(local, callsite, parent),
        parent => root_or_bridged(local, callsite, parent),
    })
}

/// Below an unsampled span, opens only a block for an outgoing call, whose id is sent to the callee; otherwise returns `None`.
#[inline(always)]
fn unsampled(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    if callsite.kind() == Kind::Internal { None } else { unsampled_call(local, callsite, parent) }
}

#[inline(never)]
fn unsampled_call(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    if calls_out(callsite) { carry(local, callsite, parent) } else { None }
}

/// Returns whether the span is an outgoing call.
fn calls_out(callsite: &Callsite) -> bool {
    matches!(callsite.kind(), Kind::Client | Kind::Producer)
}

/// Opens a span below no span, below a context without a trace, or below an unsampled span while another API is bridged.
#[inline(never)]
fn root_or_bridged(local: &Local, callsite: &'static Callsite, parent: Option<BlockRef>) -> Option<BlockRef> {
    match parent {
        Some(parent) if !parent.has(EMPTY) && bridge::is_unchanged(parent, callsite.kind()) => None,
        parent => not_seen(local, callsite, parent),
    }
}

#[inline(never)]
fn not_seen(local: &Local, callsite: &'static Callsite, parent: Option<BlockRef>) -> Option<BlockRef> {
    if bridge::is_on() {
        return enter_bridged(local, callsite);
    }
    match parent {
        Some(parent) if !parent.has(EMPTY) => unsampled(local, callsite, parent),
        parent => root(local, callsite, parent, None),
    }
}

/// Opens a span whose parent may belong to another API, and stores that API's current span in the block.
#[inline(never)]
fn enter_bridged(local: &Local, callsite: &'static Callsite) -> Option<BlockRef> {
    // A stand-in is attached to the other API. If spans are only emitted to `tracing`, an unsampled outgoing call still needs its
    // own id.
    let stand_in = bridge::attaches(callsite.kind()) || (cfg!(has_tracing_emit) && calls_out(callsite));
    let block = open_bridged(local, callsite, stand_in)?;
    context::note(local, block);
    Some(block)
}

/// Opens a span whose parent may belong to another API. If no span is opened and `stand_in` is set, returns a block with the
/// parent's context instead.
#[inline(never)]
fn open_bridged(local: &Local, callsite: &'static Callsite, stand_in: bool) -> Option<BlockRef> {
    if let Some(theirs) = context::theirs(local) {
        let block = below(local, callsite, &theirs, None)?;
        if !stand_in && !block.has(RECORDING) {
            local.release(block);
            return None;
        }
        return Some(block);
    }
    let parent = local.current();
    let opened = match parent {
        Some(parent) if parent.has(SAMPLED) => uncommon_child(local, callsite, parent),
        Some(parent) if !parent.has(EMPTY) => None,
        parent => root(local, callsite, parent, None),
    };
    if opened.is_some() || !stand_in {
        return opened;
    }
    carry(local, callsite, parent?)
}

/// Opens a span below the current one that may run on another thread. If no span is opened, returns a block with the parent's
/// context, or `None` if there is no parent or no free block.
#[inline(never)]
pub(crate) fn open_movable(callsite: &'static Callsite) -> Option<BlockRef> {
    local::with(|local| {
        if bridge::is_on() {
            return open_bridged(local, callsite, true);
        }
        let parent = local.current();
        let opened = match parent {
            Some(parent) if parent.has(SAMPLED) => child(local, callsite, parent),
            Some(parent) if !parent.has(EMPTY) => None,
            parent => root(local, callsite, parent, None),
        };
        opened.or_else(|| carry(local, callsite, parent?))
    })
}

/// Handles the common cases of `open_movable`: a child of a recorded span, or the ids and flags of an unsampled one. Returns
/// `None` in all other cases. Calls no functions, so its caller saves no registers.
#[inline(always)]
pub(crate) fn open_movable_shortly(local: &Local, callsite: &'static Callsite) -> Option<BlockRef> {
    let parent = local.current()?;
    if parent.has(SAMPLED) {
        let inherited = parent.flags.get();
        let is_short = is_short(local, callsite, inherited);
        return if is_short { short_child(local, callsite, parent, inherited) } else { None };
    }
    let is_plain = !parent.has(EMPTY | HAS_PROPAGATED | BRIDGED | block::WATCHED)
        && callsite.kind() == Kind::Internal
        && !bridge::is_on();
    // An unsampled root has no ids until they are needed.
    if is_plain && parent.span_id.get() != 0 && local.has_spare() { context::copy_plain(local, parent) } else { None }
}

/// Returns a block with the context of `parent`, for an unrecorded span; `None` if no block is free.
fn carry(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    let block = local.acquire()?;
    context::copy(local, parent, block, callsite.kind());
    renew(local, callsite, block);
    watch(callsite, block);
    Some(block)
}

/// Gives the context of an unsampled outgoing call its own span id, so that no two calls have the same id.
fn renew(local: &Local, callsite: &'static Callsite, block: BlockRef) {
    if calls_out(callsite) && !block.has(SAMPLED | EMPTY) && state(callsite) & (RECORD | CAPTURE) != 0 {
        local.ids.ensure_seeded();
        block.span_id.set(local.ids.span_id());
        block.lower(REMOTE);
    }
}

/// Enables stall detection for a context that represents an unrecorded span of this callsite, if the callsite is watched.
fn watch(callsite: &'static Callsite, block: BlockRef) {
    if state(callsite) & WATCHED != 0 {
        block.callsite.set(callsite);
        block.raise(block::WATCHED | block::NAMED);
    }
}

/// Opens a span below `parent`, ignoring the current span. If no span is opened, returns a block with the parent's context, or
/// `None` if no block is free.
#[inline(never)]
pub(crate) fn open_under(callsite: &'static Callsite, parent: &Context) -> Option<BlockRef> {
    parent.prepare();
    local::with(|local| plain_child(local, callsite, parent).or_else(|| below(local, callsite, parent, None)))
}

/// Handles the most common case of `below`, a sampled parent with ids and flags only, without a block for the parent. Returns
/// `None` in all other cases.
#[inline(always)]
fn plain_child(local: &Local, callsite: &'static Callsite, parent: &Context) -> Option<BlockRef> {
    let in_capture = switch::is_capturing() || local.current().is_some_and(|current| current.has(CAPTURED));
    let is_recorded = is_plainly_recorded(callsite);
    if !parent.is_plainly_sampled() || !is_recorded || in_capture || bridge::is_on() || !local.has_spare() {
        return None;
    }
    let block = local.acquire()?;
    let inherited = parent.inherited_flags();
    let remote = if inherited & REMOTE != 0 { REMOTE_PARENT } else { 0 };
    block.begin(RECORDING | SAMPLED | inherited & NOT_RANDOM | remote);
    block.callsite.set(callsite);
    let (trace_id, span_id) = parent.ids();
    block.trace_id.set([(trace_id >> 64) as u64, trace_id as u64]);
    block.parent_id.set(span_id);
    block.span_id.set(local.ids.span_id());
    Some(block)
}

/// Opens a span below `parent` as `open_under` does. If the span is a root, `sampler` decides whether it is recorded.
pub(crate) fn open_sampled(callsite: &'static Callsite, parent: &Context, sampler: &Sampler) -> Option<BlockRef> {
    local::with(|local| below(local, callsite, parent, Some(sampler)))
}

fn below(local: &Local, callsite: &'static Callsite, parent: &Context, sampler: Option<&Sampler>) -> Option<BlockRef> {
    let Some(stand_in) = local.acquire() else {
        if parent.is_sampled() && state(callsite) & RECORD != 0 {
            local.count_blockless();
        }
        return None;
    };
    context::fill(stand_in, parent);
    context::share_capture(local, stand_in);
    let opened = match stand_in {
        parent if parent.has(SAMPLED) => uncommon_child(local, callsite, parent),
        parent if parent.has(EMPTY) => root(local, callsite, Some(parent), sampler),
        _ => None,
    };
    if opened.is_some() {
        local.release(stand_in);
    } else {
        stand_in.raise(bridge::flags(callsite.kind()));
        renew(local, callsite, stand_in);
        watch(callsite, stand_in);
    }
    opened.or(Some(stand_in))
}

#[inline(always)]
fn child(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    let inherited = parent.flags.get();
    if is_short(local, callsite, inherited) {
        short_child(local, callsite, parent, inherited)
    } else {
        longer_child(local, callsite, parent)
    }
}

/// Returns whether opening a child takes the short path: the parent is an ordinary span of this process, and a block is at hand.
#[inline(always)]
fn is_short(local: &Local, callsite: &'static Callsite, inherited: u32) -> bool {
    inherited & (CAPTURED | REMOTE | HAS_PROPAGATED | BRIDGED) == 0
        && is_plainly_recorded(callsite)
        && local.has_spare()
}

/// Returns whether the parent and the free blocks allow the short path. Unlike `is_short`, does not check the callsite.
#[inline(always)]
fn is_short_below(local: &Local, inherited: u32) -> bool {
    inherited & (CAPTURED | REMOTE | HAS_PROPAGATED | BRIDGED) == 0 && local.has_spare()
}

/// Returns whether spans of the callsite are recorded, and neither timed nor watched.
#[inline(always)]
fn is_plainly_recorded(callsite: &Callsite) -> bool {
    callsite.state() & (RECORD | NEW | TIMED | WATCHED) == RECORD
}

#[inline(always)]
fn short_child(local: &Local, callsite: &'static Callsite, parent: BlockRef, inherited: u32) -> Option<BlockRef> {
    let block = local.acquire()?;
    block.flags.set(RECORDING | SAMPLED | inherited & NOT_RANDOM);
    block.callsite.set(callsite);
    block.trace_id.set(parent.trace_id.get());
    block.parent_id.set(parent.span_id.get());
    block.span_id.set(local.ids.span_id());
    Some(block)
}

#[inline(never)]
fn longer_child(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    if bridge::is_on() {
        return enter_bridged(local, callsite);
    }
    let (inherited, state) = (parent.flags.get(), callsite.state());
    if is_short_below(local, inherited) && state & (RECORD | NEW) == RECORD {
        // The only difference from an ordinary child is that its polls are observed.
        let block = short_child(local, callsite, parent, inherited)?;
        block.raise(polls::flags(state));
        block.polls.set(0);
        return Some(block);
    }
    uncommon_child(local, callsite, parent)
}

fn uncommon_child(local: &Local, callsite: &'static Callsite, parent: BlockRef) -> Option<BlockRef> {
    let inherited = parent.flags.get();
    let wanted = if inherited & CAPTURED != 0 { CAPTURE } else { RECORD };
    let state = state(callsite);
    if state & wanted == 0 {
        if state & CAPTURE != 0 {
            outside_capture::note(callsite.name());
        }
        return None;
    }
    let Some(block) = local.acquire() else {
        local.count_blockless();
        return None;
    };
    // REMOTE: the span itself is in another process. REMOTE_PARENT: its parent is.
    let remote = if inherited & REMOTE != 0 { REMOTE_PARENT } else { 0 };
    block.begin(
        RECORDING
            | SAMPLED
            | (inherited & (CAPTURED | NOT_RANDOM))
            | remote
            | bridge::span_flags(callsite.kind())
            | polls::flags(state),
    );
    block.polls.set(0);
    block.callsite.set(callsite);
    block.trace_id.set(parent.trace_id.get());
    block.parent_id.set(parent.span_id.get());
    block.span_id.set(local.ids.span_id());
    context::set_propagated(block, context::propagated_of(parent));
    Some(block)
}

/// Opens a root, below nothing or below a context without a trace (`around`). Returns `None` if the callsite is off or requires
/// a parent, or if no block is free. The block of an unsampled root has no RECORDING.
#[inline(never)]
fn root(
    local: &Local,
    callsite: &'static Callsite,
    around: Option<BlockRef>,
    sampler: Option<&Sampler>,
) -> Option<BlockRef> {
    let captured = around.map_or(0, |context| context.flags.get() & CAPTURED);
    let propagated = around.and_then(context::propagated_of);
    let wanted = if captured != 0 { CAPTURE } else { RECORD };
    let state = state(callsite);
    if state & wanted == 0 {
        if state & CAPTURE != 0 {
            outside_capture::note(callsite.name());
        }
        return None;
    }
    if callsite.requires_parent() {
        return None;
    }
    local.ids.ensure_seeded();
    let trace_id = local.ids.trace_id();
    // A custom sampler is user code, so it runs before a block is taken.
    let (name, kind) = (callsite.name(), callsite.kind());
    let samples = || match sampler {
        Some(sampler) => sampler.samples(trace_id, name, kind),
        None => sampling::samples(trace_id, name, kind),
    };
    let sampled = captured != 0 || samples();
    let Some(block) = local.acquire() else {
        if sampled {
            local.count_blockless();
        }
        return None;
    };
    let polls = polls::flags(if sampled { state } else { state & !TIMED });
    block.begin(captured | if sampled { RECORDING | SAMPLED } else { 0 } | bridge::span_flags(callsite.kind()) | polls);
    block.polls.set(0);
    block.callsite.set(callsite);
    block.trace_id.set([(trace_id >> 64) as u64, trace_id as u64]);
    block.parent_id.set(0);
    block.span_id.set(if sampled { local.ids.span_id() } else { 0 });
    context::set_propagated(block, propagated);
    Some(block)
}

#[inline(always)]
fn state(callsite: &'static Callsite) -> u8 {
    let state = callsite.state();
    if state & NEW == 0 { state } else { switch::resolve(callsite) }
}
