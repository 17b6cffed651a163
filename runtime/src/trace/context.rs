//! Contexts: the parent of new spans, as a value that can be cloned, sent and stored.

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
use crate::record::block::{BRIDGED, BlockRef, CAPTURED, EMPTY, HAS_PROPAGATED, NOT_RANDOM, REMOTE, SAMPLED, WATCHED};
use crate::record::bridge::{self, Place};
use crate::record::ids::{SpanId, TraceId};
use crate::record::layout;
use crate::record::local::{self, Local};
use crate::record::propagated::Propagated;
use crate::record::recorder::{self, DEFAULT_MEMORY_LIMIT, Memory};
use crate::trace::{arrivals, recording};

/// A position in a trace, which new spans take as their parent. A context is cheap to clone and may outlive its span.
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
    propagated: Option<Arc<Propagated>>,
}

impl Context {
    /// Returns the context of the innermost span on this thread; an invalid context if no span is current.
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

    /// Creates the context of a span of another process.
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
        Context { trace_id: trace_id.0, span_id: span_id.0, flags, propagated: None }
    }

    /// Returns whether the context has a trace id and a span id.
    pub fn is_valid(&self) -> bool {
        self.trace_id != 0 && self.span_id != 0
    }

    /// Returns whether the trace is sampled, so that spans below this context are recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns whether the span of this context is in another process.
    pub fn is_remote(&self) -> bool {
        self.flags & REMOTE != 0
    }

    /// Returns the trace id.
    pub fn trace_id(&self) -> TraceId {
        TraceId(self.trace_id)
    }

    /// Returns the span id.
    pub fn span_id(&self) -> SpanId {
        SpanId(self.span_id)
    }

    /// Returns the `tracestate` received from another process, or an empty text. The `tracestate` is sent with all requests
    /// below this context.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let mut carrier = Carrier::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    /// carrier.tracestate = Some("vendor=1".to_owned());
    /// assert_eq!(carrier.extract().trace_state(), "vendor=1");
    /// ```
    pub fn trace_state(&self) -> &str {
        self.propagated.as_deref().map_or("", |propagated| propagated.state.as_str())
    }

    /// Returns the value of this key in the baggage, or `None` if the baggage does not contain the key. Baggage is a set of keys
    /// and values that is sent along with requests from service to service.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let mut carrier = Carrier::default();
    /// carrier.baggage = Some("tenant=gold".to_owned());
    /// assert_eq!(carrier.extract().baggage("tenant").as_deref(), Some("gold"));
    /// ```
    pub fn baggage(&self, key: &str) -> Option<Cow<'_, str>> {
        self.propagated.as_deref()?.baggage.get(key)
    }

    /// Returns all keys of the baggage with their values.
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
        let baggage = self.propagated.as_deref().map(|propagated| &propagated.baggage);
        baggage.into_iter().flat_map(Baggage::iter).map(|member| (member.key, member.value()))
    }

    /// Returns this context with the key in its baggage; an earlier value is replaced. Baggage is sent with all requests below
    /// this context, also to third parties: never put secrets in it.
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
    /// Fails if the key is not a valid HTTP token, or if the baggage is full: at most 64 keys and 8,192 bytes.
    pub fn with_baggage(&self, key: &str, value: &str) -> Result<Self, BaggageError> {
        let mut propagated = self.propagated.as_deref().cloned().unwrap_or_default();
        let baggage = propagated.baggage.with(key, value);
        propagated.baggage = baggage.ok_or_else(|| BaggageError { key: key.chars().take(SHOWN_KEY).collect() })?;
        Ok(Context { propagated: Some(Arc::new(propagated)), ..self.marked_empty() })
    }

    /// Returns this context without its baggage, for requests to third parties.
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
        match self.propagated.as_deref() {
            Some(propagated) if !propagated.baggage.is_empty() => {
                let propagated = Propagated { baggage: Baggage::default(), ..propagated.clone() };
                Context { propagated: Some(Arc::new(propagated)), ..self.clone() }
            }
            _ => self.clone(),
        }
    }

    /// Returns this context with an inherited key: every span below the context gets the attribute. An earlier value of the key
    /// is replaced. An absent value, such as `None`, changes nothing.
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
        let propagated = self.propagated.clone().unwrap_or_default().sharing(K::META, value);
        Context { propagated: Some(Arc::new(propagated)), ..self.marked_empty() }
    }

    /// Returns this context with an inherited key whose value is that of the baggage entry with the key's name: every span below
    /// the context gets the attribute, as below the servers of `tracecast-tower` with `with_shared_baggage`. Changes nothing if
    /// the baggage has no such entry.
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

    /// Returns a function that runs `f` in this context, on whichever thread it is called. Use it for work that is sent to a
    /// thread pool or through a channel.
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

    /// Makes this context current until the guard is dropped, also in a process that records nothing.
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

    /// Allocates the memory for current contexts if the process has none yet. Does nothing for an empty context.
    #[inline]
    pub(crate) fn prepare(&self) {
        if recorder::get().is_none() && (self.is_valid() || self.propagated.is_some()) {
            recording::prepare(Memory::Within(DEFAULT_MEMORY_LIMIT));
        }
    }

    /// Returns the context with this `tracestate` and baggage. If there is baggage and the ids are invalid, a span below the
    /// context begins a trace that has this baggage.
    #[inline]
    pub(crate) fn carrying(self, state: TraceState, baggage: Baggage) -> Self {
        if state.is_empty() && baggage.is_empty() {
            return self;
        }
        Context {
            propagated: Some(Arc::new(Propagated { state, baggage, ..Propagated::default() })),
            ..self.marked_empty()
        }
    }

    /// Returns whether the trace id is known to be random.
    pub(crate) fn is_random(&self) -> bool {
        self.flags & NOT_RANDOM == 0
    }

    /// Marks the trace id as random.
    pub(crate) fn random(mut self) -> Self {
        self.flags &= !NOT_RANDOM;
        self
    }

    /// Returns whether a span below this context inherits ids and flags only: the context is sampled and has no baggage,
    /// `tracestate`, inherited keys or capture.
    #[inline]
    pub(crate) fn is_plainly_sampled(&self) -> bool {
        self.flags & (SAMPLED | CAPTURED | EMPTY) == SAMPLED && self.propagated.is_none() && self.is_valid()
    }

    /// Returns the flags that a span below this context inherits.
    #[inline]
    pub(crate) fn inherited_flags(&self) -> u32 {
        self.flags & (REMOTE | NOT_RANDOM)
    }

    /// Returns the baggage in the format of the `baggage` header, or an empty text.
    pub(crate) fn baggage_text(&self) -> &str {
        self.propagated.as_deref().map_or("", |propagated| propagated.baggage.as_str())
    }

    fn marked_empty(&self) -> Self {
        let empty = if self.is_valid() { 0 } else { EMPTY };
        Context { flags: self.flags | empty, ..self.clone() }
    }

    /// Creates the context of a span of another API; an invalid context if one of the ids is zero.
    pub(crate) fn external(Place { trace_id, span_id, sampled, is_random, is_remote }: Place) -> Self {
        if trace_id == 0 || span_id == 0 {
            return Context::default();
        }
        let random = if is_random { 0 } else { NOT_RANDOM };
        let flags = if is_remote { REMOTE } else { 0 } | if sampled { SAMPLED } else { 0 } | random;
        Context { trace_id, span_id, flags, propagated: None }
    }

    /// Adds the inherited keys, `tracestate` and baggage of `around`, if it has the same trace or is captured. If `around` is
    /// captured, the context then belongs to the same capture.
    pub(crate) fn within(mut self, around: BlockRef) -> Self {
        let [upper, lower] = around.trace_id.get();
        let same_trace = self.trace_id == (u128::from(upper) << 64 | u128::from(lower));
        if around.has(HAS_PROPAGATED) && (same_trace || around.has(CAPTURED)) {
            self.flags |= around.flags.get() & CAPTURED;
            self.propagated = propagated_of(around);
        }
        self
    }

    /// Makes this context, of a span of another API of this kind, current until the guard is dropped. Contexts attached later
    /// then stay attached, because the other API leaves its spans in any order.
    #[cfg(has_otlp)]
    #[cfg(has_tracing)]
    pub(crate) fn attach_as(&self, kind: Kind) -> Attached {
        Attached { block: local::with(|local| enter(local, self, kind)), leave: Local::remove }
    }

    /// Returns the ids and flags of the context, without inherited keys, state and baggage.
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
            propagated: propagated_of(block),
        }
    }

    pub(crate) fn from_propagated(propagated: Propagated) -> Self {
        Context { trace_id: 0, span_id: 0, flags: EMPTY | CAPTURED, propagated: Some(Arc::new(propagated)) }
    }

    /// Returns the inherited keys, which all spans below it have as attributes.
    #[cfg(has_logs)]
    pub(crate) fn shared(&self) -> &[(&'static KeyMeta, OwnedValue)] {
        self.propagated.as_deref().map_or(&[], |propagated| &propagated.shared)
    }

    /// Records that the context is sent in headers, if it belongs to a test's capture.
    pub(crate) fn note_sent(&self) {
        if let (true, Some(sink)) =
            (self.is_valid(), self.propagated.as_ref().and_then(|propagated| propagated.sink.as_ref()))
        {
            arrivals::sent(self.trace_id, sink);
        }
    }

    /// Returns whether the context belongs to a test's capture.
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

/// The number of characters of a rejected key that the error shows.
const SHOWN_KEY: usize = 64;

/// The error of adding an entry to the baggage that is invalid or exceeds its limits.
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::Context;
///
/// let error = Context::current().with_baggage("no token", "gold").err().unwrap();
/// assert!(error.to_string().starts_with("`no token` cannot be added to the baggage"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaggageError {
    key: String,
}

impl fmt::Display for BaggageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        write!(
            f,
            "`{key}` cannot be added to the baggage: it is not a valid HTTP token, or the baggage would exceed 64 keys or 8,192 bytes"
        )
    }
}

impl std::error::Error for BaggageError {}

/// Keeps a context current on this thread. Dropping the guard also leaves all spans and contexts that were entered after it, as
/// with [`Span::in_scope`](crate::Span::in_scope), so a leaked scope does not stay current.
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
    /// Removes the block from the thread's stack.
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

/// Returns the parent of new spans on this thread if it is a span of another API, otherwise `None`.
#[inline]
pub(crate) fn theirs(local: &Local) -> Option<Context> {
    let around = local.current();
    let context = Context::external(bridge::parent(around)?);
    Some(match around {
        Some(around) => context.within(around),
        None => context,
    })
}

/// Stores the current span of the bridged API in a block that is entered on this thread. Does nothing unless an API was bridged
/// when the block was created.
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

/// Enters a context on this thread, in a block that serves as a parent but is not a span. An invalid and otherwise empty context
/// hides the current span. If no block is free, returns `None`, and the current span stays.
fn enter(local: &Local, context: &Context, kind: Kind) -> Option<BlockRef> {
    let block = held(local, context, kind)?;
    note(local, block);
    local.push(block);
    Some(block)
}

/// Returns a block with this context that is not on a stack yet; `None` if no block is free.
pub(crate) fn held(local: &Local, context: &Context, kind: Kind) -> Option<BlockRef> {
    let block = local.acquire()?;
    fill(block, context);
    if block.has(REMOTE | HAS_PROPAGATED) {
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
    set_propagated(block, context.propagated.clone());
}

/// Assigns a context that came from outside a capture to the capture in which the context is used.
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
        Some(current) => propagated_of(current).and_then(|propagated| propagated.sink.clone()),
        // The thread is outside a capture, but the context may come from one: a server of this process received a captured
        // client's request.
        None if switch::is_capturing() && block.has(REMOTE) => arrivals::sink_of(trace_id_of(block)),
        None => None,
    };
    let Some(sink) = sink else { return };
    let own = propagated_of(block).map_or_else(Propagated::default, |propagated| Propagated::clone(&propagated));
    set_propagated(block, Some(Arc::new(Propagated { sink: Some(sink), ..own })));
    block.raise(CAPTURED);
}

fn trace_id_of(block: BlockRef) -> u128 {
    let [high, low] = block.trace_id.get();
    u128::from(high) << 64 | u128::from(low)
}

/// Copies the context of `span` into `block`, as for a span of this kind.
pub(crate) fn copy(local: &Local, span: BlockRef, block: BlockRef, kind: Kind) {
    ensure_ids(local, span);
    block.begin(span.flags.get() & CARRIED | bridge::flags(kind));
    block.trace_id.set(span.trace_id.get());
    block.span_id.set(span.span_id.get());
    if span.has(HAS_PROPAGATED) {
        set_propagated(block, propagated_of(span));
    }
}

/// Returns a block with the context of `span`, which must have ids and no propagated state; `None` if no block is free.
#[inline(always)]
pub(crate) fn copy_plain(local: &Local, span: BlockRef) -> Option<BlockRef> {
    let block = local.acquire()?;
    block.flags.set(span.flags.get() & CARRIED);
    block.trace_id.set(span.trace_id.get());
    block.span_id.set(span.span_id.get());
    Some(block)
}

/// The flags of a block that belong to its context.
const CARRIED: u32 = SAMPLED | CAPTURED | REMOTE | EMPTY | NOT_RANDOM | WATCHED;

/// Creates the ids of an unsampled span if it has none yet; such ids are created only when they are needed.
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

/// Returns another reference to a block's propagated state; `None` if the block has none.
#[inline]
pub(crate) fn propagated_of(block: BlockRef) -> Option<Arc<Propagated>> {
    if !block.has(HAS_PROPAGATED) {
        return None;
    }
    let propagated = block.propagated.get().cast::<Propagated>();
    // SAFETY: while HAS_PROPAGATED is set, the block owns one count of this `Arc`; this adds a count.
    unsafe {
        Arc::increment_strong_count(propagated);
        Some(Arc::from_raw(propagated))
    }
}

/// Replaces a block's propagated state.
#[inline]
pub(crate) fn set_propagated(block: BlockRef, propagated: Option<Arc<Propagated>>) {
    drop(local::take_propagated(&block));
    if let Some(propagated) = propagated {
        block.propagated.set(Arc::into_raw(propagated).cast());
        block.raise(HAS_PROPAGATED);
    }
}
