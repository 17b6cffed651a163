//! The interface to another tracing API in this process: OpenTelemetry, whose current span may be a parent, and `tracing`, to
//! which spans may be emitted.
//!
//! A thread has two stacks, ours of blocks and that of the bridged API. On entry, a block stores the bridged API's current span.
//! While that span is unchanged, our span is the parent of new spans. If it has changed, a span of the bridged API was entered
//! later, and is the parent.
//!
//! Spans of some kinds are also current in the bridged API while they are entered. Contexts attached there are kept in order of
//! entry, so leaving a span removes everything that was attached after it, including contexts of scopes that were cut off.
//!
//! Flags of blocks control the bridging, and are tested together with other flags. Without a bridged API no block has them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::declare::callsite::Kind;
use crate::record::block::{ATTACHES, BRIDGED, BlockRef, EMPTY, ENTERED, MIRRORED};

/// A position in a trace, as plain data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    pub(crate) sampled: bool,
    /// The trace id is known to be random.
    pub(crate) is_random: bool,
    pub(crate) is_remote: bool,
}

/// The functions of the bridged API, for the calling thread. None of them panics.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// Returns the id of the current span: zero if there is none, `None` while the thread is torn down.
    pub(crate) span_id: fn() -> Option<u64>,
    /// Returns the current span.
    pub(crate) place: fn() -> Place,
    /// Returns the number of our contexts that are attached.
    pub(crate) height: fn() -> u32,
    /// Attaches a context for `owner`.
    pub(crate) attach: fn(Place, owner: usize),
    /// Detaches all contexts above `height`.
    pub(crate) truncate: fn(height: u32),
    /// Detaches the context at `height`, if it belongs to `owner`.
    pub(crate) remove: fn(height: u32, owner: usize),
}

/// Selects which spans of Tracecast and of the OpenTelemetry API become parents of each other, with the feature `otel`.
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
    /// No interoperation: the program's own provider remains the global one.
    Off,
    /// Our provider is the global one. Our client, server, producer and consumer spans are OpenTelemetry's current context while
    /// they are entered.
    #[default]
    Boundaries,
    /// Our provider is the global one, and all our spans are OpenTelemetry's current context while they are entered. Costs some
    /// hundred instructions per span.
    Full,
}

/// The functions of an API to which recorded spans are emitted. None of them panics.
#[derive(Debug)]
pub(crate) struct Mirror {
    /// The clock of a span starts. The span may be entered already.
    pub(crate) started: fn(BlockRef),
    /// A span is entered on this thread, possibly before it starts.
    pub(crate) entered: fn(BlockRef),
    /// A span is left on this thread. If it is the innermost one, spans that were entered after it and cut off are left too.
    pub(crate) left: fn(BlockRef, innermost: bool),
    /// A span ends, if it was started.
    pub(crate) ended: fn(BlockRef),
}

static BRIDGE: OnceLock<Bridge> = OnceLock::new();
static MIRROR: OnceLock<Mirror> = OnceLock::new();
/// An `Interop`, combined with [`MIRRORS`].
static MODE: AtomicU8 = AtomicU8::new(Interop::Off as u8);
/// The bit of `MODE` that switches emission on. Zero in builds that cannot emit, so that testing the other bits costs nothing
/// more.
const MIRRORS: u8 = if cfg!(has_tracing_emit) { 1 << 7 } else { 0 };
/// True if this build can bridge or emit to another API.
pub(crate) const IS_BUILT: bool = cfg!(any(has_otel, has_tracing_emit));
/// The height of a block that was entered while no API was bridged: nothing is attached above it.
const NO_HEIGHT: u32 = u32::MAX;

/// Sets the bridged API, or switches it off. A process has at most one.
#[cfg(has_otel)]
pub(crate) fn set(bridge: Bridge, mode: Interop) {
    // The functions are the same in each call.
    let _ = BRIDGE.set(bridge);
    off();
    MODE.fetch_or(mode as u8, Relaxed);
}

/// Switches the bridged API off. A single atomic instruction, as a forked child needs.
pub(crate) fn off() {
    MODE.fetch_and(MIRRORS, Relaxed);
}

/// Switches the emission of our spans as `tracing` spans on or off, for spans that begin later.
#[cfg(has_tracing_emit)]
pub(crate) fn set_mirror(mirror: Mirror, on: bool) {
    // The functions are the same in each call.
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

/// Returns whether an unsampled span can skip the bridged API: `parent`, also unsampled, is entered, the API's current span has not
/// changed since, and spans of `kind` are not attached to the API. Most unsampled spans take this path, so it is short.
#[inline(always)]
pub(crate) fn is_unchanged(parent: BlockRef, kind: Kind) -> bool {
    IS_BUILT
        && parent.has(ENTERED)
        && kind == Kind::Internal
        && MODE.load(Relaxed) == Interop::Boundaries as u8
        && current_id() == parent.seen.get()
}

/// Returns the id of the bridged API's current span. Must not be called during a thread's teardown: the API's storage is gone
/// then, and no block has ENTERED.
#[cfg(has_otel)]
#[inline(always)]
fn current_id() -> u64 {
    use opentelemetry::trace::TraceContextExt as _;
    // The only use of OpenTelemetry's types below the room `interop`: a call through a pointer would cost as much as the lookup.
    opentelemetry::Context::map_current(|theirs| u64::from_be_bytes(theirs.span().span_context().span_id().to_bytes()))
}

#[cfg(not(has_otel))]
fn current_id() -> u64 {
    0
}

/// Clears ENTERED on this thread's blocks: the bridged API's storage on this thread is gone.
#[cfg(has_otel)]
pub(crate) fn gone(mut entered: Option<BlockRef>) {
    while let Some(block) = entered {
        block.lower(ENTERED);
        entered = block.below.get();
    }
}

/// Returns whether spans of this kind are also made current in the bridged API.
pub(crate) fn attaches(kind: Kind) -> bool {
    is_followed() && (kind != Kind::Internal || MODE.load(Relaxed) & !MIRRORS == Interop::Full as u8)
}

/// Returns the flags of a block for a span of this kind; a context is `Internal`.
#[inline]
pub(crate) fn flags(kind: Kind) -> u32 {
    match is_on() {
        false => 0,
        true if attaches(kind) => BRIDGED | ATTACHES,
        true => BRIDGED,
    }
}

/// Returns the flags of a block for a span of this kind. Unlike a context, the span is emitted if emission is on.
#[inline]
pub(crate) fn span_flags(kind: Kind) -> u32 {
    #[cfg(has_tracing_emit)]
    if MODE.load(Relaxed) & MIRRORS != 0 {
        return flags(kind) | MIRRORED;
    }
    flags(kind)
}

/// Returns the bridged API's current span if it is the parent of new spans on this thread, otherwise `None`. `around` is our
/// innermost block.
#[inline]
pub(crate) fn parent(around: Option<BlockRef>) -> Option<Place> {
    let bridge = bridge()?;
    let seen = match around {
        None => 0,
        Some(block) if block.has(ENTERED) => block.seen.get(),
        // Entered before the API was bridged.
        Some(_) => return None,
    };
    let now = (bridge.span_id)()?;
    if now == seen || now == 0 {
        return None;
    }
    Some((bridge.place)())
}

/// Enters a block in the other APIs on this thread: enters its emitted span, makes its context current in the bridged API if its
/// kind requires that, and stores the bridged API's current span in the block.
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

/// Leaves a block in the other APIs on this thread: leaves its emitted span, and detaches the contexts that were attached for
/// the block and after it.
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

/// Leaves a block that is not the innermost one in the other APIs. Contexts attached after it stay. If the block was cut off,
/// its context is detached already.
pub(crate) fn left_out_of_order(block: BlockRef) {
    if block.has(ENTERED) {
        block.lower(ENTERED);
        mirror(block).into_iter().for_each(|mirror| (mirror.left)(block, false));
        BRIDGE.get().into_iter().for_each(|bridge| (bridge.remove)(block.height.get(), address(block)));
    }
}

/// Emits a span whose clock has just started, with the fields recorded so far, if emission is on for the span.
pub(crate) fn started(block: BlockRef) {
    mirror(block).into_iter().for_each(|mirror| (mirror.started)(block));
}

/// Ends the emitted span, if any, of a block that is about to be released.
pub(crate) fn ended(block: BlockRef) {
    mirror(block).into_iter().for_each(|mirror| (mirror.ended)(block));
}

pub(crate) fn address(block: BlockRef) -> usize {
    std::ptr::from_ref(block.get()).addr()
}
