//! Emits our spans as spans of `tracing`, for its subscribers.
//!
//! A span is emitted from the start of its clock to its end, and is entered in `tracing` while it is entered here.
//! `tracing` requires the names of fields before their values: these are the keys that a callsite declares, and those
//! that its earlier spans had.

mod site;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Callsite as _, Dispatch, dispatcher};

use self::site::{Site, Sites};
use crate::record::block::{BlockRef, ENTERED};
use crate::record::bridge::{self, Mirror, address};
use crate::record::clock;
use crate::record::finished::{Attribute, Outcome};
use crate::record::local;
use crate::trace::context::{self, Context};
use crate::trace::fork;

/// Starts or stops emitting our spans as `tracing` spans, for subscribers such as a `fmt` layer or Sentry's.
///
/// `TC_TRACING_EMIT=true` and [`Config::with_tracing_emit`](crate::config::Config::with_tracing_emit) do so when traces start.
///
/// Call it before the first span: a span inside of a span that is not emitted is not emitted either. Recorded spans are emitted, with
/// their name, the level `INFO`, their crate as the target, and up to 32 attributes as fields. Attributes that are set after the start
/// appear when the span ends. [`layer()`](super::layer()) does not record them again, but the layer of `tracing-opentelemetry` would.
/// The redaction hook works at the export and does not see the fields.
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// tracecast::tracing_spans::set_emitting(true);
/// let subscriber = tracing_subscriber::registry().with(tracing_subscriber::fmt::layer());
/// # drop(subscriber);
/// # tracecast::tracing_spans::set_emitting(false);
/// ```
pub fn set_emitting(on: bool) {
    fork::hold_too(fork::Room::Emitted, hold, release);
    bridge::set_mirror(Mirror { started, entered, left, ended }, on);
}

/// A span of ours that is emitted as a span of `tracing`.
#[derive(Clone)]
struct Emitted {
    dispatch: Dispatch,
    id: Id,
    site: &'static Site,
    /// The attributes that were passed to the subscriber when the span started.
    known: Vec<Attribute>,
}

#[derive(Default)]
struct State {
    sites: Sites,
    /// The emitted spans by the addresses of their blocks.
    spans: HashMap<usize, Emitted>,
}

/// Never locked while code of a subscriber runs.
static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static HELD: RefCell<Option<MutexGuard<'static, State>>> = const { RefCell::new(None) };
    /// The emitted spans that are entered on this thread, in this order.
    static STACK: RefCell<Vec<(usize, Dispatch, Id)>> = const { RefCell::new(Vec::new()) };
    /// The context of the span that is being passed to a subscriber.
    static EMITTING: RefCell<Option<Context>> = const { RefCell::new(None) };
    static IS_TOLD: Cell<bool> = const { Cell::new(false) };
}

fn hold() {
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some(state()));
}

fn release() {
    let _ = HELD.try_with(RefCell::take);
}

/// Returns the context of the span that is being emitted on this thread, for our own layer.
pub(super) fn emitting() -> Option<Context> {
    EMITTING.try_with(|context| context.borrow().clone()).ok().flatten()
}

/// Calls a subscriber. Our spans that the subscriber creates are not emitted, because the recursion might never end.
/// Returns `None` in such a recursion, or if the subscriber panics.
fn tell<R>(f: impl FnOnce() -> R) -> Option<R> {
    if IS_TOLD.replace(true) {
        return None;
    }
    let told = catch_unwind(AssertUnwindSafe(f));
    IS_TOLD.set(false);
    // Dropping the payload may panic again.
    told.map_err(std::mem::forget).ok()
}

fn attributes(block: BlockRef) -> Vec<Attribute> {
    let span = local::plain(&block, context::propagated_of(block), 0, Outcome::Ok, &clock::converter());
    span.map(|span| span.attributes).unwrap_or_default()
}

fn started(block: BlockRef) {
    let known = attributes(block);
    let context = local::with(|local| Context::of(local, block));
    let emitted = tell(|| {
        let (site, is_new) = state().sites.of(block.callsite.get(), &known);
        if is_new {
            site.register();
        }
        let dispatch = dispatcher::get_default(|dispatch| site.is_wanted(dispatch).then(|| dispatch.clone()))?;
        let _ = EMITTING.try_with(|emitting| emitting.replace(Some(context)));
        let id = site.with_values(&known, |values| dispatch.new_span(&Attributes::new(site.metadata(), values)));
        Some(Emitted { dispatch, id, site, known })
    });
    let _ = EMITTING.try_with(RefCell::take);
    if let Some(emitted) = emitted.flatten() {
        state().spans.insert(address(block), emitted);
        if block.has(ENTERED) {
            entered(block);
        }
    }
}

fn entered(block: BlockRef) {
    let found = state().spans.get(&address(block)).map(|emitted| (emitted.dispatch.clone(), emitted.id.clone()));
    let Some((dispatch, id)) = found else { return };
    tell(|| dispatch.enter(&id));
    let _ = STACK.try_with(|stack| stack.borrow_mut().push((address(block), dispatch, id)));
}

fn left(block: BlockRef, innermost: bool) {
    let above = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        let Some(at) = stack.iter().rposition(|(known, ..)| *known == address(block)) else { return Vec::new() };
        let end = if innermost { stack.len() } else { at + 1 };
        stack.drain(at..end).collect()
    });
    for (_, dispatch, id) in above.unwrap_or_default().into_iter().rev() {
        tell(|| dispatch.exit(&id));
    }
}

fn ended(block: BlockRef) {
    let Some(emitted) = state().spans.remove(&address(block)) else { return };
    // A span that was ended early may still be entered in `tracing`.
    left(block, false);
    let all = attributes(block);
    state().sites.learn(block.callsite.get(), &all);
    let fields = emitted.site.metadata().fields();
    let is_new = |attribute: &Attribute| !emitted.known.contains(attribute) && fields.field(&*attribute.key).is_some();
    let new: Vec<_> = all.into_iter().filter(is_new).collect();
    tell(|| {
        if !new.is_empty() {
            emitted.site.with_values(&new, |values| emitted.dispatch.record(&emitted.id, &Record::new(values)));
        }
        emitted.dispatch.try_close(emitted.id);
    });
}
