//! Contexts: which span is the parent, as a value that can be cloned, sent and kept.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::declare::callsite::Kind;
use crate::declare::key::{Key, KeyOf};
use crate::declare::switch;
use crate::declare::value::IntoValue;
#[cfg(has_logs)]
use crate::declare::{key::KeyMeta, value::OwnedValue};
use crate::formats::{Baggage, TraceState};
use crate::record::block::{BRIDGED, BlockRef, CAPTURED, EMPTY, HAS_EXT, NOT_RANDOM, REMOTE, SAMPLED, WATCHED};
use crate::record::bridge::{self, Place};
use crate::record::ext::Ext;
use crate::record::ids::{SpanId, TraceId};
use crate::record::layout;
use crate::record::local::{self, Local};
use crate::record::recorder::{self, DEFAULT_MEMORY_LIMIT, Memory};
use crate::trace::{arrivals, recording};

/// A place in a trace: what new spans take as their parent. Cheap to clone, and it may outlive the span.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::Context;
///
/// #[tc_span("Loader/Read")]
/// fn read() {}
///
/// #[tc_span("Loader/Load")]
/// fn load() {
///     let context = Context::current();
///     std::thread::spawn(move || context.run(read)).join().unwrap();
/// }
///
/// let captured = tracecast::testing::capture(load);
/// captured.assert_tree("
///     Loader/Load
///       Loader/Read
/// ");
/// ```
#[derive(Clone, Default)]
pub struct Context {
    trace_id: u128,
    span_id: u64,
    flags: u32,
    ext: Option<Arc<Ext>>,
}

impl Context {
    /// The context of the innermost span on this thread; an invalid one if there is none.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::Context;
    ///
    /// assert!(!Context::current().is_valid()); // there is no span here
    /// ```
    pub fn current() -> Self {
        local::with(|local| {
            let ours = || local.current().map_or_else(Context::default, |block| Context::of(local, block));
            theirs(local).unwrap_or_else(ours)
        })
    }

    /// The context of a span of another process.
    ///
    /// ```
    /// use tracecast::{Context, SpanId, TraceId};
    ///
    /// let caller = Context::remote(TraceId(0xa), SpanId(0xb), true);
    /// assert!(caller.is_valid() && caller.is_remote() && caller.is_sampled());
    /// assert!(!Context::remote(TraceId(0), SpanId(0xb), true).is_valid());
    /// ```
    pub fn remote(trace_id: TraceId, span_id: SpanId, sampled: bool) -> Self {
        if !trace_id.is_valid() || !span_id.is_valid() {
            return Context::default();
        }
        let flags = REMOTE | NOT_RANDOM | if sampled { SAMPLED } else { 0 };
        Context { trace_id: trace_id.0, span_id: span_id.0, flags, ext: None }
    }

    /// Whether it names a span.
    pub fn is_valid(&self) -> bool {
        self.trace_id != 0 && self.span_id != 0
    }

    /// Whether spans below it are recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Whether the span is in another process.
    pub fn is_remote(&self) -> bool {
        self.flags & REMOTE != 0
    }

    /// The trace.
    pub fn trace_id(&self) -> TraceId {
        TraceId(self.trace_id)
    }

    /// The span.
    pub fn span_id(&self) -> SpanId {
        SpanId(self.span_id)
    }

    /// `tracestate` as it came from another process, or nothing. It goes on with every request below.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let mut carrier = Carrier::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    /// carrier.tracestate = Some("vendor=1".to_owned());
    /// assert_eq!(carrier.extract().trace_state(), "vendor=1");
    /// ```
    pub fn trace_state(&self) -> &str {
        self.ext.as_deref().map_or("", |ext| ext.state.as_str())
    }

    /// The value of this key in the baggage: what the request carries along, from wherever it began.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let mut carrier = Carrier::default();
    /// carrier.baggage = Some("tenant=gold".to_owned());
    /// assert_eq!(carrier.extract().baggage("tenant").as_deref(), Some("gold"));
    /// ```
    pub fn baggage(&self, key: &str) -> Option<Cow<'_, str>> {
        self.ext.as_deref()?.baggage.get(key)
    }

    /// All keys of the baggage, with their values.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::Context;
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?.with_baggage("region", "east")?;
    /// let mut keys: Vec<_> = context.baggage_entries().map(|(key, _)| key).collect();
    /// keys.sort_unstable();
    /// assert_eq!(keys, ["region", "tenant"]);
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn baggage_entries(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let baggage = self.ext.as_deref().map(|ext| &ext.baggage);
        baggage.into_iter().flat_map(Baggage::iter).map(|member| (member.key, member.value()))
    }

    /// The same with this in its baggage, in place of an earlier value of the key. It goes on with every request below,
    /// to whomever that is sent: it is no place for secrets.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::Context;
    ///
    /// let context = Context::current().with_baggage("tenant", "a b")?;
    /// assert_eq!(context.baggage("tenant").as_deref(), Some("a b"));
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    ///
    /// # Errors
    /// If the key is no token of HTTP, or there is no room: baggage has up to 64 keys and 8,192 bytes.
    pub fn with_baggage(&self, key: &str, value: &str) -> Result<Self, BaggageError> {
        let mut ext = self.ext.as_deref().cloned().unwrap_or_default();
        let baggage = ext.baggage.with(key, value);
        ext.baggage = baggage.ok_or_else(|| BaggageError { key: key.chars().take(SHOWN_KEY).collect() })?;
        Ok(Context { ext: Some(Arc::new(ext)), ..self.marked_empty() })
    }

    /// The same without its baggage: for requests to those whom it is none of their business.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::Context;
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?;
    /// assert_eq!(context.without_baggage().baggage("tenant"), None);
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn without_baggage(&self) -> Self {
        match self.ext.as_deref() {
            Some(ext) if !ext.baggage.is_empty() => {
                let ext = Ext { baggage: Baggage::default(), ..ext.clone() };
                Context { ext: Some(Arc::new(ext)), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// The same with a key that all spans below it have as an attribute, in place of an earlier value.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, keys};
    ///
    /// #[tc_span("Loader/Load")]
    /// fn load() {}
    ///
    /// let captured = tracecast::testing::capture(|| Context::current().with_shared(keys::tensor::artifact, "llama").run(load));
    /// assert_eq!(captured.span("Loader/Load").attribute("tc.artifact.id").unwrap().to_string(), "llama");
    /// ```
    #[must_use]
    pub fn with_shared<K: Key>(&self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) -> Self {
        let Some(value) = value.with_value(|value| layout::owned(K::META, value)) else { return self.clone() };
        let ext = self.ext.clone().unwrap_or_default().sharing(K::META, value);
        Context { ext: Some(Arc::new(ext)), ..self.marked_empty() }
    }

    /// The same, and the key of its baggage with the name of this one is an attribute of all spans below it, as the servers of
    /// `tracecast-tower` have it with `with_shared_baggage`. Without it in the baggage nothing changes.
    ///
    /// ```
    /// use tracecast::Carrier;
    /// use tracecast::prelude::*;
    ///
    /// tracecast::tc_keys! {
    ///     /// The session of a user.
    ///     pub id session: str = "tc.session.id" { baggage };
    /// }
    ///
    /// #[tc_span("Worker/Run", parent = carrier.extract().with_shared_baggage(session))]
    /// fn run(carrier: &Carrier) {}
    ///
    /// let mut carrier = Carrier::new(None);
    /// carrier.baggage = Some("tc.session.id=s-1".to_owned());
    /// tracecast::testing::capture(|| run(&carrier)).assert_tree("Worker/Run tc.session.id=s-1");
    /// ```
    #[must_use]
    pub fn with_shared_baggage<K: Key<Value = str>>(&self, key: fn() -> KeyOf<K>) -> Self {
        match self.baggage(K::META.name) {
            Some(value) => self.with_shared(key, &*value),
            None => self.clone(),
        }
    }

    /// Runs `f` with this context as the current one.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, current};
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?;
    /// assert_eq!(context.run(|| current().baggage("tenant")).as_deref(), Some("gold"));
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let _attached = self.attach();
        f()
    }

    /// A function that runs `f` in this context, wherever it is called: for thread pools and channels.
    ///
    /// ```
    /// use tracecast::prelude::*;
    /// use tracecast::{Context, current};
    ///
    /// let context = Context::current().with_baggage("tenant", "gold")?;
    /// let job = context.wrap(|| current().baggage("tenant"));
    /// assert_eq!(std::thread::spawn(job).join().unwrap().as_deref(), Some("gold"));
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn wrap<R>(self, f: impl FnOnce() -> R) -> impl FnOnce() -> R {
        move || self.run(f)
    }

    /// Makes this context the current one until the guard is dropped, also in a process that records nothing.
    ///
    /// ```standalone_crate
    /// use tracecast::prelude::*;
    /// use tracecast::Context;
    ///
    /// let context = Context::current().with_baggage("region", "east")?;
    /// let _attached = context.attach();
    /// assert_eq!(Context::current().baggage("region").as_deref(), Some("east"));
    /// # Ok::<(), tracecast::BaggageError>(())
    /// ```
    pub fn attach(&self) -> Attached {
        self.prepare();
        Attached { block: local::with(|local| enter(local, self, Kind::Internal)), leave: Local::pop_to }
    }

    /// Sets up the memory in which contexts are current, in a process that records nothing or does not yet. An empty context
    /// needs none.
    #[inline]
    pub(crate) fn prepare(&self) {
        if recorder::get().is_none() && (self.is_valid() || self.ext.is_some()) {
            recording::prepare(Memory::Within(DEFAULT_MEMORY_LIMIT));
        }
    }

    /// With what came beside the ids. Without ids, and with baggage, it begins a trace that has this baggage.
    #[inline]
    pub(crate) fn carrying(self, state: TraceState, baggage: Baggage) -> Self {
        if state.is_empty() && baggage.is_empty() {
            return self;
        }
        Context { ext: Some(Arc::new(Ext { state, baggage, ..Ext::default() })), ..self.marked_empty() }
    }

    /// Whether the trace's id is known to be random.
    pub(crate) fn is_random(&self) -> bool {
        self.flags & NOT_RANDOM == 0
    }

    /// Says that the trace's id is known to be random.
    pub(crate) fn random(mut self) -> Self {
        self.flags &= !NOT_RANDOM;
        self
    }

    /// Whether a span below it inherits nothing but ids and flags: it is sampled, and has no baggage, state or capture.
    #[inline]
    pub(crate) fn is_plainly_sampled(&self) -> bool {
        self.flags & (SAMPLED | CAPTURED | EMPTY) == SAMPLED && self.ext.is_none() && self.is_valid()
    }

    /// The flags that a span below it inherits.
    #[inline]
    pub(crate) fn inherited_flags(&self) -> u32 {
        self.flags & (REMOTE | NOT_RANDOM)
    }

    /// The baggage as it is written.
    pub(crate) fn baggage_text(&self) -> &str {
        self.ext.as_deref().map_or("", |ext| ext.baggage.as_str())
    }

    fn marked_empty(&self) -> Self {
        let empty = if self.is_valid() { 0 } else { EMPTY };
        Context { flags: self.flags | empty, ..self.clone() }
    }

    /// The context of a span that another API made.
    pub(crate) fn foreign(Place { trace_id, span_id, sampled, is_random, is_remote }: Place) -> Self {
        if trace_id == 0 || span_id == 0 {
            return Context::default();
        }
        let random = if is_random { 0 } else { NOT_RANDOM };
        let flags = if is_remote { REMOTE } else { 0 } | if sampled { SAMPLED } else { 0 } | random;
        Context { trace_id, span_id, flags, ext: None }
    }

    /// The same below `around`: what that shares with its trace goes on, and so does the capture it belongs to.
    pub(crate) fn within(mut self, around: BlockRef) -> Self {
        let [upper, lower] = around.trace_id.get();
        let same_trace = self.trace_id == (u128::from(upper) << 64 | u128::from(lower));
        if around.has(HAS_EXT) && (same_trace || around.has(CAPTURED)) {
            self.flags |= around.flags.get() & CAPTURED;
            self.ext = ext_of(around);
        }
        self
    }

    /// As `attach`, for a span of another API that is of this kind. That API leaves spans in any order: contexts that were
    /// attached later stay.
    #[cfg(has_otlp)]
    #[cfg(has_tracing)]
    pub(crate) fn attach_as(&self, kind: Kind) -> Attached {
        Attached { block: local::with(|local| enter(local, self, kind)), leave: Local::remove }
    }

    /// The same without what only we know of.
    pub(crate) fn place(&self) -> Place {
        let (sampled, is_random, is_remote) = (self.is_sampled(), self.is_random(), self.is_remote());
        Place { trace_id: self.trace_id, span_id: self.span_id, sampled, is_random, is_remote }
    }

    pub(crate) fn of(local: &Local, block: BlockRef) -> Self {
        ensure_ids(local, block);
        let [upper, lower] = block.trace_id.get();
        Context {
            trace_id: (u128::from(upper) << 64) | u128::from(lower),
            span_id: block.span_id.get(),
            flags: block.flags.get() & CARRIED,
            ext: ext_of(block),
        }
    }

    pub(crate) fn from_ext(ext: Ext) -> Self {
        Context { trace_id: 0, span_id: 0, flags: EMPTY | CAPTURED, ext: Some(Arc::new(ext)) }
    }

    /// The keys that spans below it have.
    #[cfg(has_logs)]
    pub(crate) fn shared(&self) -> &[(&'static KeyMeta, OwnedValue)] {
        self.ext.as_deref().map_or(&[], |ext| &ext.shared)
    }

    /// Notes that it leaves in headers, if it belongs to the capture of a test.
    pub(crate) fn note_sent(&self) {
        if let (true, Some(sink)) = (self.is_valid(), self.ext.as_ref().and_then(|ext| ext.sink.as_ref())) {
            arrivals::sent(self.trace_id, sink);
        }
    }

    /// Whether it belongs to the capture of a test.
    #[cfg(has_otlp)]
    #[cfg(any(has_otel, has_tracing))]
    pub(crate) fn is_captured(&self) -> bool {
        self.flags & CAPTURED != 0
    }

    pub(crate) fn ids(&self) -> (u128, u64) {
        (self.trace_id, self.span_id)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_valid() {
            return f.write_str("Context(none)");
        }
        write!(f, "Context({}-{}", self.trace_id(), self.span_id())?;
        f.write_str(if self.is_sampled() { ", sampled)" } else { ")" })
    }
}

/// How much of a refused key is shown.
const SHOWN_KEY: usize = 64;

/// Something cannot be in the baggage.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::Context;
///
/// let error = Context::current().with_baggage("no token", "gold").err().unwrap();
/// assert!(error.to_string().starts_with("`no token` cannot be in the baggage"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaggageError {
    key: String,
}

impl fmt::Display for BaggageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        write!(f, "`{key}` cannot be in the baggage: it is no token of HTTP, or 64 keys or 8,192 bytes are exceeded")
    }
}

impl std::error::Error for BaggageError {}

/// Keeps a context current on this thread. When it is dropped, everything that was entered after it is left with it, as
/// with [`Span::in_scope`](crate::Span::in_scope): a scope that was leaked does not stay current.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::{Context, current};
///
/// let context = Context::current().with_baggage("tenant", "gold")?;
/// let attached = context.attach();
/// assert_eq!(current().baggage("tenant").as_deref(), Some("gold"));
/// drop(attached);
/// assert_eq!(current().baggage("tenant"), None);
/// # Ok::<(), tracecast::BaggageError>(())
/// ```
#[must_use = "the context is current until the guard is dropped"]
pub struct Attached {
    block: Option<BlockRef>,
    /// How the block is taken off the thread's stack.
    leave: fn(&Local, BlockRef),
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(block) = self.block {
            local::with(|local| {
                (self.leave)(local, block);
                local.release(block);
            });
        }
    }
}

/// The parent of new spans on this thread, if it is one of another API.
#[inline]
pub(crate) fn theirs(local: &Local) -> Option<Context> {
    let around = local.current();
    let context = Context::foreign(bridge::parent(around)?);
    Some(match around {
        Some(around) => context.within(around),
        None => context,
    })
}

/// Notes that a block is entered on this thread, for another API that may be beside ours.
#[inline]
pub(crate) fn note(local: &Local, block: BlockRef) {
    if bridge::IS_BUILT && block.has(BRIDGED) {
        note_bridged(local, block);
    }
}

#[inline(never)]
fn note_bridged(local: &Local, block: BlockRef) {
    bridge::enter(block, || Context::of(local, block).place());
}

/// Enters a context on this thread: a block that is no span, but a parent. An invalid context without anything else
/// hides the current span; if no block is left, the current span stays.
fn enter(local: &Local, context: &Context, kind: Kind) -> Option<BlockRef> {
    let block = held(local, context, kind)?;
    note(local, block);
    local.push(block);
    Some(block)
}

/// A block that stands for a context, and is on no stack yet.
pub(crate) fn held(local: &Local, context: &Context, kind: Kind) -> Option<BlockRef> {
    let block = local.acquire()?;
    fill(block, context);
    if block.has(REMOTE | HAS_EXT) {
        share_capture(local, block);
    }
    block.raise(bridge::flags(kind));
    Some(block)
}

pub(crate) fn fill(block: BlockRef, context: &Context) {
    let flags = if context.is_valid() { context.flags } else { context.flags | EMPTY };
    block.begin(flags | bridge::flags(Kind::Internal));
    block.trace_id.set([(context.trace_id >> 64) as u64, context.trace_id as u64]);
    block.span_id.set(context.span_id);
    set_ext(block, context.ext.clone());
}

/// A context that came from outside belongs to the capture it is used in.
#[inline]
pub(crate) fn share_capture(local: &Local, block: BlockRef) {
    if switch::is_capturing() || local.current().is_some_and(|current| current.has(CAPTURED)) {
        share_some_capture(local, block);
    }
}

#[cold]
#[inline(never)]
fn share_some_capture(local: &Local, block: BlockRef) {
    if block.has(CAPTURED) {
        return;
    }
    let sink = match local.current().filter(|current| current.has(CAPTURED)) {
        Some(current) => ext_of(current).and_then(|ext| ext.sink.clone()),
        // Not in a capture, but it may have left one: a server of this process takes the request of a captured client.
        None if switch::is_capturing() && block.has(REMOTE) => arrivals::sink_of(trace_id_of(block)),
        None => None,
    };
    let Some(sink) = sink else { return };
    let own = ext_of(block).map_or_else(Ext::default, |ext| Ext::clone(&ext));
    set_ext(block, Some(Arc::new(Ext { sink: Some(sink), ..own })));
    block.raise(CAPTURED);
}

fn trace_id_of(block: BlockRef) -> u128 {
    let [high, low] = block.trace_id.get();
    u128::from(high) << 64 | u128::from(low)
}

/// Makes `block` stand for the context of `span`, where one of this kind would be.
pub(crate) fn copy(local: &Local, span: BlockRef, block: BlockRef, kind: Kind) {
    ensure_ids(local, span);
    block.begin(span.flags.get() & CARRIED | bridge::flags(kind));
    block.trace_id.set(span.trace_id.get());
    block.span_id.set(span.span_id.get());
    if span.has(HAS_EXT) {
        set_ext(block, ext_of(span));
    }
}

/// The same for a context that has its ids, and no ext, if there is a block at hand.
#[inline(always)]
pub(crate) fn copy_plain(local: &Local, span: BlockRef) -> Option<BlockRef> {
    let block = local.acquire()?;
    block.flags.set(span.flags.get() & CARRIED);
    block.trace_id.set(span.trace_id.get());
    block.span_id.set(span.span_id.get());
    Some(block)
}

/// What of a block's flags belongs to its context.
const CARRIED: u32 = SAMPLED | CAPTURED | REMOTE | EMPTY | NOT_RANDOM | WATCHED;

/// Ids of an unsampled span are made when somebody asks for them.
pub(crate) fn ensure_ids(local: &Local, block: BlockRef) {
    if block.span_id.get() == 0 && !block.has(EMPTY) {
        local.ids.ensure_seeded();
        if block.trace_id.get() == [0; 2] {
            let trace_id = local.ids.trace_id();
            block.trace_id.set([(trace_id >> 64) as u64, trace_id as u64]);
        }
        block.span_id.set(local.ids.span_id());
    }
}

/// Another share of a block's ext.
#[inline]
pub(crate) fn ext_of(block: BlockRef) -> Option<Arc<Ext>> {
    if !block.has(HAS_EXT) {
        return None;
    }
    let ext = block.ext.get().cast::<Ext>();
    // SAFETY: while HAS_EXT is up, the block owns one count of this `Arc`; this makes another one.
    unsafe {
        Arc::increment_strong_count(ext);
        Some(Arc::from_raw(ext))
    }
}

/// Gives a block its ext.
#[inline]
pub(crate) fn set_ext(block: BlockRef, ext: Option<Arc<Ext>>) {
    drop(local::take_ext(&block));
    if let Some(ext) = ext {
        block.ext.set(Arc::into_raw(ext).cast());
        block.raise(HAS_EXT);
    }
}
