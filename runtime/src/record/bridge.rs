//! Another tracing API beside ours, as far as the core has to know of it: who is current there.
//!
//! There are two stacks on a thread, ours of blocks and theirs. Each block of ours remembers, when it is entered, which
//! span was current on the other side. As long as that is so, ours is the inner one; if it has changed, something was
//! entered there since, and that is the parent of what comes next.
//!
//! Spans of some kinds are made current on the other side too, for as long as they are entered. What is attached there
//! is kept in order of entering, so whoever is left takes away everything that was attached after it: what a scope left
//! behind when it was cut off, too.
//!
//! All of it is found by flags of blocks that are looked at anyway. Without another API no block has them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::declare::callsite::Kind;
use crate::record::block::{ATTACHES, BRIDGED, BlockRef, EMPTY, ENTERED, MIRRORED};

/// A place in a trace, as plain as can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    pub(crate) sampled: bool,
    /// The id of the trace is known to be random.
    pub(crate) is_random: bool,
    pub(crate) is_remote: bool,
}

/// The other side, on the thread that asks. None of it panics.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// The id of the span that is current there; zero if there is none, nothing if the thread ends.
    pub(crate) span_id: fn() -> Option<u64>,
    /// Where it stands.
    pub(crate) place: fn() -> Place,
    /// How many contexts of ours are attached there.
    pub(crate) height: fn() -> u32,
    /// Attaches one for `owner`.
    pub(crate) attach: fn(Place, owner: usize),
    /// Takes away all that were attached above `height`.
    pub(crate) truncate: fn(height: u32),
    /// Takes away the one at `height`, if it is `owner`'s.
    pub(crate) remove: fn(height: u32, owner: usize),
}

/// How far the OpenTelemetry API and ours know of each other, where the feature `otel` is on.
///
/// ```
/// # #[cfg(feature = "otlp")] {
/// use tracecast::config::{Config, Interop};
///
/// assert_eq!(Config::new().get("interop").as_deref(), Some("Boundaries"));
/// let config = Config::new().with_interop(Interop::Full);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(has_otlp), expect(unreachable_pub, reason = "the configuration shows it"))]
#[non_exhaustive]
#[repr(u8)]
pub enum Interop {
    /// Not at all: the program's own provider stays the global one.
    Off,
    /// Our provider is the global one. OpenTelemetry's current context is that of our client, server, producer and consumer
    /// spans while they are entered.
    #[default]
    Boundaries,
    /// It is that of all our spans. It costs some hundred instructions a span.
    Full,
}

/// Another API that our recorded spans are emitted to. None of it panics.
#[derive(Debug)]
pub(crate) struct Mirror {
    /// The clock of a span starts. It may be entered already.
    pub(crate) started: fn(BlockRef),
    /// A span is entered on this thread, maybe before it is started.
    pub(crate) entered: fn(BlockRef),
    /// A span is left on this thread. If it is the innermost one, what was entered after it and is cut off goes with it.
    pub(crate) left: fn(BlockRef, innermost: bool),
    /// A span has ended, if it was started.
    pub(crate) ended: fn(BlockRef),
}

static BRIDGE: OnceLock<Bridge> = OnceLock::new();
static MIRROR: OnceLock<Mirror> = OnceLock::new();
/// An `Interop`, and [`MIRRORS`].
static MODE: AtomicU8 = AtomicU8::new(Interop::Off as u8);
/// Spans are emitted. Zero where they cannot be, so that looking at the rest costs nothing more.
const MIRRORS: u8 = if cfg!(has_tracing_emit) { 1 << 7 } else { 0 };
/// Whether another API can be beside ours in this build.
pub(crate) const IS_BUILT: bool = cfg!(any(has_otel, has_tracing_emit));
/// The height of a block that was entered while no other API was followed: nothing is above it.
const NO_HEIGHT: u32 = u32::MAX;

/// Follows the other API from now on, or no longer. There is one in a process.
#[cfg(has_otel)]
pub(crate) fn set(bridge: Bridge, mode: Interop) {
    // The functions are the same each time.
    let _ = BRIDGE.set(bridge);
    off();
    MODE.fetch_or(mode as u8, Relaxed);
}

/// Not followed any more. For a forked child as well: an atomic instruction.
pub(crate) fn off() {
    MODE.fetch_and(MIRRORS, Relaxed);
}

/// Emits spans that begin from now on, or no longer.
#[cfg(has_tracing_emit)]
pub(crate) fn set_mirror(mirror: Mirror, on: bool) {
    // The functions are the same each time.
    let _ = MIRROR.set(mirror);
    if on {
        MODE.fetch_or(MIRRORS, Relaxed)
    } else {
        MODE.fetch_and(!MIRRORS, Relaxed)
    };
}

#[inline(always)]
pub(crate) fn is_on() -> bool {
    IS_BUILT && MODE.load(Relaxed) != Interop::Off as u8
}

fn is_followed() -> bool {
    cfg!(has_otel) && MODE.load(Relaxed) & !MIRRORS != Interop::Off as u8
}

fn bridge() -> Option<&'static Bridge> {
    if is_followed() { BRIDGE.get() } else { None }
}

fn mirror(block: BlockRef) -> Option<&'static Mirror> {
    if cfg!(has_tracing_emit) && block.has(MIRRORED) { MIRROR.get() } else { None }
}

/// Whether an unsampled span of this kind has nothing to do inside of `parent`, which is unsampled too: the other side
/// stands as it did when that was entered, and is not told of it. What most spans ask, so it is short.
#[inline(always)]
pub(crate) fn is_unchanged(parent: BlockRef, kind: Kind) -> bool {
    IS_BUILT
        && parent.has(ENTERED)
        && kind == Kind::Internal
        && MODE.load(Relaxed) == Interop::Boundaries as u8
        && current_id() == parent.seen.get()
}

/// The span that is current on the other side. Not to be asked at a thread's end, when that is gone: no block is entered
/// then.
#[cfg(has_otel)]
#[inline(always)]
fn current_id() -> u64 {
    use opentelemetry::trace::TraceContextExt as _;
    // Their types stand here and nowhere else in the core: a call through a pointer would cost as much as the answer.
    opentelemetry::Context::map_current(|theirs| u64::from_be_bytes(theirs.span().span_context().span_id().to_bytes()))
}

#[cfg(not(has_otel))]
fn current_id() -> u64 {
    0
}

/// The other side is gone from this thread: what is entered here is so no longer there.
#[cfg(has_otel)]
pub(crate) fn gone(mut entered: Option<BlockRef>) {
    while let Some(block) = entered {
        block.lower(ENTERED);
        entered = block.below.get();
    }
}

/// Whether a span of this kind is current on the other side too.
pub(crate) fn attaches(kind: Kind) -> bool {
    is_followed() && (kind != Kind::Internal || MODE.load(Relaxed) & !MIRRORS == Interop::Full as u8)
}

/// The flags of a block for a span of this kind; a context is as internal as can be.
#[inline]
pub(crate) fn flags(kind: Kind) -> u32 {
    match is_on() {
        false => 0,
        true if attaches(kind) => BRIDGED | ATTACHES,
        true => BRIDGED,
    }
}

/// The flags of a block for a span of this kind, as opposed to a context.
#[inline]
pub(crate) fn span_flags(kind: Kind) -> u32 {
    #[cfg(has_tracing_emit)]
    if MODE.load(Relaxed) & MIRRORS != 0 {
        return flags(kind) | MIRRORED;
    }
    flags(kind)
}

/// The parent of new spans on this thread, where `around` is the innermost of ours, if it is the other side's.
#[inline]
pub(crate) fn parent(around: Option<BlockRef>) -> Option<Place> {
    let bridge = bridge()?;
    let seen = match around {
        None => 0,
        Some(block) if block.has(ENTERED) => block.seen.get(),
        // Entered before the other API was followed.
        Some(_) => return None,
    };
    let now = (bridge.span_id)()?;
    if now == seen || now == 0 {
        return None;
    }
    Some((bridge.place)())
}

/// Notes how the other side stands when a block is entered on this thread, and makes it current there if need be.
pub(crate) fn enter(block: BlockRef, place: impl FnOnce() -> Place) {
    if let Some(mirror) = mirror(block) {
        (mirror.entered)(block);
        block.height.set(NO_HEIGHT);
        block.seen.set(0);
        block.raise(ENTERED);
    }
    let Some(bridge) = bridge() else { return };
    block.height.set((bridge.height)());
    if block.has(ATTACHES) && !block.has(EMPTY) {
        (bridge.attach)(place(), address(block));
    }
    if let Some(seen) = (bridge.span_id)() {
        block.seen.set(seen);
        block.raise(ENTERED);
    }
}

/// Takes away what was attached for a block, and after it, on this thread.
#[inline]
pub(crate) fn left(block: BlockRef) {
    if IS_BUILT && block.has(ENTERED) {
        leave(block);
    }
}

#[cold]
#[inline(never)]
fn leave(block: BlockRef) {
    block.lower(ENTERED);
    mirror(block).into_iter().for_each(|mirror| (mirror.left)(block, true));
    BRIDGE.get().into_iter().for_each(|bridge| (bridge.truncate)(block.height.get()));
}

/// The same for a block that is not the innermost one: what was attached after it stays. If it was cut off, its context
/// is gone already.
pub(crate) fn left_out_of_order(block: BlockRef) {
    if block.has(ENTERED) {
        block.lower(ENTERED);
        mirror(block).into_iter().for_each(|mirror| (mirror.left)(block, false));
        BRIDGE.get().into_iter().for_each(|bridge| (bridge.remove)(block.height.get(), address(block)));
    }
}

/// Emits a span whose clock has just started, with the fields that it has by now.
pub(crate) fn started(block: BlockRef) {
    mirror(block).into_iter().for_each(|mirror| (mirror.started)(block));
}

/// Ends what was emitted for a block that is about to be given back.
pub(crate) fn ended(block: BlockRef) {
    mirror(block).into_iter().for_each(|mirror| (mirror.ended)(block));
}

pub(crate) fn address(block: BlockRef) -> usize {
    std::ptr::from_ref(block.get()).addr()
}
