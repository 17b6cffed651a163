//! Accesses OpenTelemetry's current context on this thread, for `bridge`.
//!
//! OpenTelemetry's context is in a thread-local with a destructor. Using the context panics after the destructor has
//! run, or if a context is attached while the current one is borrowed. Neither panic may reach the program through our
//! code.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState};
use opentelemetry::{Context as Theirs, ContextGuard};

use super::convert;
use crate::record::bridge::{self, Bridge, Place};
use crate::record::local;
use crate::trace::context::Context;

pub(super) const BRIDGE: Bridge = Bridge { span_id, place, height, attach, truncate, remove };

const NEW: u8 = 0;
const ALIVE: u8 = 1;
const GONE: u8 = 2;

/// The block for which a context was attached, and the guard; `None` after the guard was removed out of order.
type Attachment = (usize, Option<ContextGuard>);

struct Attachments(RefCell<Vec<Attachment>>);

/// Runs before the destructor of OpenTelemetry's thread-local, which was initialised first. After this destructor our
/// code does not use OpenTelemetry's context.
impl Drop for Attachments {
    fn drop(&mut self) {
        STATE.set(GONE);
        local::with(|local| bridge::gone(local.current()));
        self.0.take().into_iter().for_each(std::mem::forget);
    }
}

thread_local! {
    static STATE: Cell<u8> = const { Cell::new(NEW) };
    static ATTACHED: Attachments = const { Attachments(RefCell::new(Vec::new())) };
}

/// Returns the id of OpenTelemetry's current span: zero if there is none, `None` if the thread is ending.
pub(super) fn span_id() -> Option<u64> {
    is_usable().then(|| Theirs::map_current(id_of))
}

#[inline(always)]
fn id_of(theirs: &Theirs) -> u64 {
    convert::span_number(theirs.span().span_context().span_id())
}

/// Initialises the thread: OpenTelemetry's thread-local first, so that it is destroyed after ours. Returns false if the
/// thread is ending.
#[cold]
fn begin() -> bool {
    if STATE.get() == NEW {
        let met = catch_unwind(|| Theirs::map_current(|_| ())).is_ok() && ATTACHED.try_with(|_| ()).is_ok();
        STATE.set(if met { ALIVE } else { GONE });
    }
    STATE.get() == ALIVE
}

fn is_usable() -> bool {
    STATE.get() == ALIVE || begin()
}

fn place() -> Place {
    let context = if is_usable() {
        Theirs::map_current(|theirs| convert::context(theirs.span().span_context()))
    } else {
        Context::default()
    };
    context.place()
}

/// Returns the trace state of OpenTelemetry's span if it belongs to the same trace, otherwise an empty one.
pub(super) fn trace_state_of(theirs: &SpanContext, context: &Context) -> TraceState {
    let same = convert::context(theirs).trace_id() == context.trace_id();
    if same { theirs.trace_state().clone() } else { TraceState::NONE }
}

fn height() -> u32 {
    ATTACHED.try_with(|attached| attached.0.borrow().len() as u32).unwrap_or(0)
}

/// Attaches a context with this span, derived from the current context so that its baggage is kept. Does nothing if the
/// thread is ending.
fn attach(place: Place, owner: usize) {
    if !is_usable() {
        return;
    }
    let context = &Context::external(place);
    let guard = catch_unwind(AssertUnwindSafe(|| {
        let theirs = Theirs::map_current(|theirs| {
            let trace_state = trace_state_of(theirs.span().span_context(), context);
            theirs.with_remote_span_context(convert::span_context(context, trace_state))
        });
        theirs.attach()
    }));
    if let Ok(guard) = guard {
        let _ = ATTACHED.try_with(|attached| attached.0.borrow_mut().push((owner, Some(guard))));
    }
}

fn truncate(height: u32) {
    let above = |attached: &Attachments| {
        let mut attached = attached.0.borrow_mut();
        let is_above = attached.len() > height as usize || matches!(attached.last(), Some((_, None)));
        if is_above { attached.pop() } else { None }
    };
    while let Ok(Some((_, guard))) = ATTACHED.try_with(above) {
        detach(guard);
    }
}

fn remove(height: u32, owner: usize) {
    let own = |attached: &Attachments| match attached.0.borrow_mut().get_mut(height as usize) {
        Some((whose, guard)) if *whose == owner => guard.take(),
        _ => None,
    };
    detach(ATTACHED.try_with(own).ok().flatten());
}

/// Drops a guard, and catches a panic: values in the guard's context may be dropped with it, and their destructors may
/// panic.
fn detach(guard: Option<ContextGuard>) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(guard)));
}
