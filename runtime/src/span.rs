//! Spans: what an annotated function enters and leaves, the scope guard, and spans made by hand.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::SystemTime;

use crate::announce;
use crate::block::{BEGAN_UNWINDING, BlockRef, CAPTURED, FAILED, RECORDING, UNIX_TIMES};
use crate::callsite::Callsite;
use crate::clock;
use crate::context::{self, Context};
use crate::error::{self, ErrorInfo};
use crate::ext::Ext;
use crate::fields::{self, Filled};
use crate::finished::Outcome;
use crate::key::{Key, KeyOf};
use crate::local::{self, Local};
use crate::open;
use crate::record::owned;
use crate::value::{IntoValue, OwnedValue, formatted};

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
        starting.block = open::open(starting.callsite).map(|block| entered(block, starting.callsite, fields));
    }
}

/// As `start`, below a given parent.
#[inline(always)]
pub fn start_under<P: IntoParent, F: FnOnce(&mut Start)>(
    starting: Option<&mut Starting>,
    parent: impl FnOnce() -> P,
    fields: F,
) {
    if let Some(starting) = starting {
        let block = open::open_under(starting.callsite, &parent().into_parent());
        starting.block = block.map(|block| entered(block, starting.callsite, fields));
    }
}

/// A span that was entered on this thread and has no guard yet.
pub struct Entered(Option<BlockRef>);

/// Opens and enters a span for a scope; `fields` is called if it is recorded.
#[inline]
pub fn enter<F: FnOnce(&mut Start)>(callsite: &'static Callsite, fields: F) -> Option<Entered> {
    Some(Entered(open::open(callsite).map(|block| entered(block, callsite, fields))))
}

/// As `enter`, below a given parent.
pub fn enter_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
) -> Option<Entered> {
    let block = open::open_under(callsite, &parent().into_parent());
    Some(Entered(block.map(|block| entered(block, callsite, fields))))
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
    if recorded && callsite.announce_seconds() != 0 {
        announce::open(&block);
    }
}

/// Leaves a span that is entered by a function: everything above it on the stack goes with it.
fn leave(block: BlockRef, end: u64, outcome: Outcome) {
    local::with(|local| {
        local.pop_to(block);
        finish(local, block, end, outcome);
    });
}

/// Leaves a recorded span that came to its end.
#[inline(never)]
fn leave_recorded(block: BlockRef, end: u64) {
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
        Pending(block)
    }

    pub(crate) fn into_block(self) -> BlockRef {
        ManuallyDrop::new(self).0
    }

    /// A context that is no span, to be entered at each poll.
    pub(crate) fn context(context: &Context) -> Option<Pending> {
        let block = local::with(|local| local.acquire())?;
        context::fill(block, context);
        Some(Pending::new(block))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        local::with(|local| {
            local.arrive();
            local.release(self.0);
        });
    }
}

/// Takes the fields of a span that is about to start.
///
/// The counts are kept here, in registers, until all fields are written: each attribute would otherwise wait for the
/// store of the one before it.
pub struct Start {
    block: BlockRef,
    filled: Filled,
}

impl Start {
    #[inline(always)]
    fn fill<F: FnOnce(&mut Start)>(block: BlockRef, fields: F) {
        let mut start = Start { block, filled: Filled::empty() };
        fields(&mut start);
        start.filled.store(block);
    }

    /// Has `f` write to the block itself.
    fn with_block(&mut self, f: impl FnOnce(BlockRef)) {
        self.filled.store(self.block);
        f(self.block);
        self.filled = Filled::of(self.block);
    }

    /// Records an attribute.
    #[inline(always)]
    pub fn attr<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| self.filled = fields::attribute_at(self.block, self.filled, K::META, value));
    }

    /// Records an attribute here and on every span below.
    pub fn share<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| share(self.block, K::META, owned(K::META, value)));
    }

    /// Links to one or several contexts.
    pub fn link<L: IntoLinks>(&mut self, links: L) {
        self.with_block(|block| links.for_each_link(&mut |context| link(block, context)));
    }

    /// Names the span at run time.
    pub fn name(&mut self, name: fmt::Arguments<'_>) {
        self.with_block(|block| formatted(&name, |name| fields::name(block, name)));
    }
}

fn share(block: BlockRef, key: &'static crate::key::KeyMeta, value: Option<OwnedValue>) {
    let Some(value) = value else { return };
    let value = match value {
        OwnedValue::Str(text) => OwnedValue::Str(fields::bounded(&text)),
        other => other,
    };
    let ext = context::ext_of(block)
        .map_or_else(|| Ext::default().sharing(key, value.clone()), |ext| ext.sharing(key, value.clone()));
    context::set_ext(block, Some(Arc::new(ext)));
}

pub(crate) fn link(block: BlockRef, context: &Context) {
    if context.is_valid() {
        let (trace_id, span_id) = context.ids();
        fields::link(block, trace_id, span_id, context.is_sampled());
    }
}

/// Takes what a span's result tells.
pub struct End {
    pub(crate) block: BlockRef,
}

impl End {
    /// Records an attribute.
    #[inline(always)]
    pub fn attr<K: Key>(&mut self, value: impl IntoValue<K::Value>) {
        value.with_value(|value| fields::attribute(self.block, K::META, value));
    }

    /// The span ends in an error.
    #[cold]
    pub fn fail(&mut self, error: &ErrorInfo<'_>) {
        fail(self.block, error);
    }
}

#[cold]
pub(crate) fn fail(block: BlockRef, info: &ErrorInfo<'_>) {
    block.raise(FAILED);
    error::record(block, info);
}

/// What may be given as a parent: a context, or none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parent of a span",
    label = "not a context",
    note = "give a `tracecast::Context`, a reference to one, or an `Option` of either; without a valid one the span is a root"
)]
pub trait IntoParent {
    /// The context; an invalid one means no parent.
    fn into_parent(self) -> Context;
}

impl IntoParent for Context {
    fn into_parent(self) -> Context {
        self
    }
}

impl IntoParent for &Context {
    fn into_parent(self) -> Context {
        self.clone()
    }
}

impl<P: IntoParent> IntoParent for Option<P> {
    fn into_parent(self) -> Context {
        self.map_or_else(Context::default, P::into_parent)
    }
}

/// What may be given as links: contexts, references to them, options and collections of them. Invalid ones are skipped.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be linked to",
    label = "not a context",
    note = "give a `tracecast::Context`, a reference to one, an `Option`, a slice or a `Vec` of them"
)]
pub trait IntoLinks {
    /// Hands out each context.
    fn for_each_link(self, link: &mut dyn FnMut(&Context));
}

impl IntoLinks for Context {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        link(&self);
    }
}

impl IntoLinks for &Context {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        link(self);
    }
}

impl<L: IntoLinks> IntoLinks for Option<L> {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.into_iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<L: IntoLinks> IntoLinks for Vec<L> {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.into_iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<'a, T> IntoLinks for &'a [T]
where
    &'a T: IntoLinks,
{
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<'a, T> IntoLinks for &'a Vec<T>
where
    &'a T: IntoLinks,
{
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.as_slice().for_each_link(link);
    }
}

/// The span of a block of code: it ends when the guard is dropped. Made by `tc_scope!`.
///
/// It cannot go to another thread. Guards dropped out of order, or never, leave the other spans as they are.
#[must_use = "the span ends when the guard is dropped; bind it to a name, as in `let _scope = tc_scope!(..);`"]
pub struct Scope {
    block: Option<BlockRef>,
}

impl Scope {
    /// A scope around an entered span.
    #[inline]
    pub fn new(span: Option<Entered>) -> Self {
        let block = span.and_then(|span| span.0);
        if let Some(block) = block
            && std::thread::panicking()
        {
            block.raise(BEGAN_UNWINDING);
        }
        Scope { block }
    }

    /// A scope without a span.
    pub const fn none() -> Self {
        Scope { block: None }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        if let Some(block) = self.block {
            let unwinding = std::thread::panicking() && !block.has(BEGAN_UNWINDING);
            let outcome = if unwinding { Outcome::Panicked } else { Outcome::Ok };
            local::with(|local| {
                let end = if block.has(RECORDING) { clock::now() } else { 0 };
                local.remove(block);
                finish(local, block, end, outcome);
            });
        }
    }
}

/// A span made by hand: it goes where its owner goes, is entered with [`Span::in_scope`] or
/// [`FutureExt::in_span`](crate::FutureExt::in_span), and ends when it is dropped.
#[must_use = "the span ends when it is dropped"]
pub struct Span {
    block: Option<BlockRef>,
}

// SAFETY: as for `Pending`: outside of `in_scope`, which borrows it, the block is on no thread's stack.
unsafe impl Send for Span {}

impl Span {
    /// A span that owns this block, wherever it ends.
    pub(crate) fn owning(block: BlockRef) -> Self {
        local::with(Local::depart);
        Span { block: Some(block) }
    }

    /// A span that is not there.
    pub const fn none() -> Self {
        Span { block: None }
    }

    /// Whether anything recorded on it will be seen.
    pub fn is_recording(&self) -> bool {
        self.recording().is_some()
    }

    /// Records an attribute; an earlier value of the key gives way.
    pub fn set<K: Key>(&mut self, _key: fn() -> KeyOf<K>, value: impl IntoValue<K::Value>) {
        if let Some(block) = self.recording() {
            value.with_value(|value| fields::set(block, K::META, value));
        }
    }

    /// Records an event.
    pub fn event(&mut self, name: &'static str) {
        if let Some(block) = self.recording() {
            fields::event(block, name, None);
        }
    }

    /// Links to other spans.
    pub fn link(&mut self, links: impl IntoLinks) {
        if let Some(block) = self.recording() {
            links.for_each_link(&mut |context| link(block, context));
        }
    }

    /// Records an error, and that the span failed.
    pub fn error<E: fmt::Display + ?Sized>(&mut self, error: &E) {
        if let Some(block) = self.recording() {
            error::with_text(error, |info| fail(block, info));
        }
    }

    /// The span's context, for its children elsewhere; an invalid one if it is not there.
    pub fn context(&self) -> Context {
        self.block.map_or_else(Context::default, |block| local::with(|local| Context::of(local, block)))
    }

    /// Runs `f` inside the span.
    pub fn in_scope<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let _entered = self.block.map(OnStack::enter);
        f()
    }

    /// Ends the span now.
    pub fn end(self) {}

    /// Ends the span as of a time that is known otherwise. Its start has to be given too, by the builder.
    pub fn end_at(self, end: SystemTime) {
        if let Some(block) = self.recording() {
            block.end.set(clock::unix_nanos(end));
        }
    }

    /// Ends the span with this outcome.
    pub fn end_with(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    pub(crate) fn into_block(self) -> Option<BlockRef> {
        ManuallyDrop::new(self).block
    }

    fn recording(&self) -> Option<BlockRef> {
        self.block.filter(|block| block.has(RECORDING))
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(block) = self.block.take() {
            let end = if block.has(UNIX_TIMES) { unix_end(block) } else { clock::now() };
            local::with(|local| {
                local.arrive();
                finish(local, block, end, outcome);
            });
        }
    }
}

fn unix_end(block: BlockRef) -> u64 {
    let given = block.end.get();
    if given != 0 { given } else { clock::unix_now() }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.finish(Outcome::Ok);
    }
}

impl From<Scope> for Span {
    /// Takes the scope off the thread: it is entered where the span is.
    fn from(scope: Scope) -> Self {
        let Some(block) = ManuallyDrop::new(scope).block else { return Span::none() };
        local::with(|local| local.remove(block));
        Span::owning(block)
    }
}

/// A block that is on this thread's stack for as long as this lives.
pub(crate) struct OnStack(BlockRef);

impl OnStack {
    #[inline(always)]
    pub(crate) fn enter(block: BlockRef) -> Self {
        local::with(|local| local.push(block));
        OnStack(block)
    }
}

impl Drop for OnStack {
    #[inline(always)]
    fn drop(&mut self) {
        local::with(|local| local.pop_to(self.0));
    }
}
