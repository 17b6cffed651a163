//! Calls of annotated functions.
//!
//! When off, a call costs a load, a test and the body. When on, it runs in one function that is generic over the body and calls
//! non-generic functions.

use std::mem::ManuallyDrop;

use super::enter::{
    Unfilled, enter_opened, leave_now, leave_panicked, leave_recorded, leave_unrecorded, open_and_enter, start_reading,
};
use super::relatives::IntoParent;
use super::scope::Guarded;
use super::start::{End, Start};
use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::block::{BlockRef, RECORDING};
use crate::record::clock;
use crate::record::local;
use crate::trace::context;
use crate::trace::future::Carried;
use crate::trace::metrics::{Metrics, Site};
use crate::trace::observe::{Attributes, ErrorsIf, LabelValues, Observe, Probe, Seen, Verdict};
use crate::trace::open;

/// Runs a function whose span has no fields and whose result is not observed.
#[inline(always)]
pub fn run<R>(callsite: &'static Callsite, body: impl FnOnce() -> R) -> R {
    if callsite.is_on() { run_on(callsite, body) } else { body() }
}

#[inline(never)]
fn run_on<R>(callsite: &'static Callsite, body: impl FnOnce() -> R) -> R {
    let call = Call { callsite, block: open_and_enter(callsite), metrics: () };
    let result = body();
    if let Some(block) = ManuallyDrop::new(call).block {
        leave_now(block);
    }
    result
}

/// Runs a function whose span has no fields; `observe` receives the result.
#[inline(always)]
pub fn run_observed<R, O: Returned<R>>(callsite: &'static Callsite, body: impl FnOnce() -> R, observe: O) -> R {
    if callsite.is_on() { run_observed_on(callsite, body, observe) } else { body() }
}

#[inline(never)]
fn run_observed_on<R, O: Returned<R>>(callsite: &'static Callsite, body: impl FnOnce() -> R, observe: O) -> R {
    let mut call = Call { callsite, block: open_and_enter(callsite), metrics: () };
    let result = observe.end_call(&mut call, body());
    // Until here, a panic while the call ends is recorded as a panic of the function.
    std::mem::forget(call);
    result
}

/// Runs a function with fields, labels or metrics: `body` first begins its span and metrics. `observe` receives the result.
#[inline(always)]
pub fn run_begun<S: Site, R, O: Returned<R>>(
    site: S,
    body: impl FnOnce(Begin<'_, S::Metrics, false>) -> R,
    observe: O,
) -> R {
    if site.callsite().is_on() { run_begun_on(site.callsite(), body, observe) } else { body(Begin(None)) }
}

#[inline(never)]
fn run_begun_on<M: Metrics, R, O: Returned<R>>(
    callsite: &'static Callsite,
    body: impl FnOnce(Begin<'_, M, false>) -> R,
    observe: O,
) -> R {
    let mut call = Call::new(callsite);
    let result = body(Begin(Some(&mut call)));
    let result = observe.end_call(&mut call, result);
    std::mem::forget(call);
    result
}

/// Runs a function as `run_begun` does, with a closure as the observer of a result whose type has no name.
#[inline(always)]
pub fn run_probed<S: Site, R>(
    site: S,
    body: impl FnOnce(Begin<'_, S::Metrics, false>) -> R,
    observe: impl Fn(&R, &mut Seen<'_>),
) -> R {
    run_begun(site, body, Probe(observe))
}

/// Begins the span and metrics of a scope. Returns the guard that ends both.
#[inline(always)]
pub fn enter<S: Site>(site: S, begin: impl FnOnce(Begin<'_, S::Metrics, false>)) -> Guarded<S::Metrics> {
    if site.callsite().is_on() { enter_on(site.callsite(), begin) } else { Guarded::none() }
}

fn enter_on<M: Metrics>(callsite: &'static Callsite, begin: impl FnOnce(Begin<'_, M, false>)) -> Guarded<M> {
    let mut call = Call::new(callsite);
    begin(Begin(Some(&mut call)));
    Guarded::of(call.block.take(), call.metrics.take())
}

/// Begins the span and metrics of a future or stream: parent, fields and labels now, the clocks at the first poll.
#[inline(always)]
pub fn begin<S: Site>(site: S, begin: impl FnOnce(Begin<'_, S::Metrics, true>)) -> Carried<S::Metrics> {
    if site.callsite().is_on() { begin_on(site.callsite(), begin) } else { Carried::none() }
}

#[inline(never)]
fn begin_on<M: Metrics>(callsite: &'static Callsite, begin: impl FnOnce(Begin<'_, M, true>)) -> Carried<M> {
    let mut call = Call::new(callsite);
    begin(Begin(Some(&mut call)));
    Carried::begun(call.block.take(), call.metrics.take())
}

/// Type-checks the argument of a macro that is compiled out.
pub fn check(_: impl FnOnce(Begin<'_, (), false>)) {}

/// Ends a call with its result.
pub trait Returned<R> {
    /// Ends the call, or transfers its span to the returned future or stream. Takes the call by reference: a copy would wait for
    /// the stores just made.
    fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R;
}

/// Observers that end the call. Listed one by one: a blanket `impl` would conflict with those that transfer the span.
macro_rules! ends_call {
    ($([$($generics:tt)*] $observer:ty),+) => {$(
        impl<R, $($generics)*> Returned<R> for $observer
        where
            $observer: Observe<R>,
        {
            #[inline(always)]
            fn end_call<M: Metrics>(self, call: &mut Call<M>, result: R) -> R {
                call.end(&result, &self);
                result
            }
        }
    )+};
}

ends_call!([] (), [A, B] (A, B), [A, B, C] (A, B, C), [H] Probe<H>);
ends_call!([V, F] Attributes<V, F>, [V, F] LabelValues<V, F>, [O, F] ErrorsIf<O, F>);

/// The span that a call has entered and its metrics, if any.
pub struct Call<M: Metrics> {
    callsite: &'static Callsite,
    block: Option<BlockRef>,
    metrics: M,
}

impl<M: Metrics> Call<M> {
    #[inline(always)]
    fn new(callsite: &'static Callsite) -> Self {
        Call { callsite, block: None, metrics: M::none() }
    }

    /// Ends a call that has returned.
    #[inline(always)]
    pub(crate) fn end<R>(&mut self, result: &R, observe: &impl Observe<R>) {
        let left = self.end_metrics(result, observe);
        self.block = None;
        leave(left);
    }

    /// Leaves the span without ending it, for a future or stream that continues it.
    pub(crate) fn carry(&mut self) -> Carried<M> {
        Carried::left(self.block.take(), self.metrics.take())
    }

    /// Reports the result of a call to its span and metrics, and ends the metrics. Returns the span to leave, with the clock
    /// reading if the span is recorded. If user code in `observe` panics, both end as if the function had panicked.
    #[inline(always)]
    fn end_metrics<R>(&mut self, result: &R, observe: &impl Observe<R>) -> Option<(BlockRef, Option<u64>)> {
        match self.block {
            Some(block) if block.has(RECORDING) => {
                let end = clock::now();
                ended(block, end, &mut self.metrics, result, observe);
                Some((block, Some(end)))
            }
            block => {
                end_metrics(&mut self.metrics, None, None, result, observe);
                block.map(|block| (block, None))
            }
        }
    }
}

#[inline(always)]
fn leave(left: Option<(BlockRef, Option<u64>)>) {
    match left {
        Some((block, Some(end))) => leave_recorded(block, end),
        Some((block, None)) => leave_unrecorded(block),
        None => {}
    }
}

/// Ends the metrics and then the span after a panic of the body or of the observer; otherwise neither is left here.
impl<M: Metrics> Drop for Call<M> {
    #[inline]
    fn drop(&mut self) {
        drop(self.metrics.take());
        if let Some(block) = self.block {
            leave_panicked(block);
        }
    }
}

/// Reports the result to a recorded span and its metrics, and ends the metrics while the span is current, so that the span
/// becomes the exemplar of their duration. `end` is a clock reading from before the observation.
#[inline(always)]
pub(crate) fn ended<M: Metrics, R>(block: BlockRef, end: u64, metrics: &mut M, result: &R, observe: &impl Observe<R>) {
    if metrics.is_none() {
        return observe.observe(result, &mut Seen { end: Some(End { block }), verdict: None });
    }
    end_metrics(metrics, Some(End { block }), Some(end), result, observe);
}

/// Reports the result to the metrics, and to the span if `end` is given, and then ends the metrics. Does nothing if there are no
/// metrics.
#[inline(always)]
pub(crate) fn end_metrics<M: Metrics, R>(
    metrics: &mut M,
    end: Option<End>,
    reading: Option<u64>,
    result: &R,
    observe: &impl Observe<R>,
) {
    if !metrics.is_none() {
        let (mut verdict, at) = (Verdict::default(), metrics.end_reading(reading));
        observe.observe(result, &mut Seen { end, verdict: Some(&mut verdict) });
        metrics.end(at, &verdict);
    }
}

/// Begins the span and metrics of a call, future or stream; does nothing if the callsite is off.
pub struct Begin<'c, M: Metrics, const CARRIED: bool>(Option<&'c mut Call<M>>);

impl<M: Metrics, const CARRIED: bool> Begin<'_, M, CARRIED> {
    /// Creates the metrics with these labels, if the call is measured.
    #[inline(always)]
    pub fn labels(mut self, labels: impl FnOnce() -> Labels) -> Self {
        if let Some(call) = &mut self.0 {
            // There were no metrics, so nothing has to be ended.
            std::mem::forget(std::mem::replace(&mut call.metrics, M::of(call.callsite, labels)));
        }
        self
    }

    /// Begins without a span: starts the metrics, unless a future or stream starts them at its first poll.
    #[inline(always)]
    pub fn start(self) {
        if let Some(call) = self.0 {
            call.start_metrics(None, CARRIED);
        }
    }

    /// Begins with a span below the current one; `fields` is called if the span is recorded.
    #[inline(always)]
    pub fn span(self, fields: impl FnOnce(&mut Start)) {
        if let Some(call) = self.0 {
            let opened = if CARRIED { open::open_movable(call.callsite) } else { open::open(call.callsite) };
            call.fill(opened, fields, CARRIED);
        }
    }

    /// Begins with a span below the given parent; `fields` is called if the span is recorded.
    #[inline(always)]
    pub fn span_under<P: IntoParent>(self, parent: impl FnOnce() -> P, fields: impl FnOnce(&mut Start)) {
        if let Some(call) = self.0 {
            let opened = open::open_under(call.callsite, &parent().into_parent());
            if let (Some(block), false) = (opened, CARRIED) {
                noted(block);
            }
            call.fill(opened, fields, CARRIED);
        }
    }
}

fn noted(block: BlockRef) {
    local::with(|local| context::note(local, block));
}

impl<M: Metrics> Call<M> {
    #[inline(always)]
    fn fill(&mut self, opened: Option<BlockRef>, fields: impl FnOnce(&mut Start), carried: bool) {
        match opened {
            Some(block) if block.has(RECORDING) => {
                let unfilled = Unfilled(block);
                Start::fill(block, fields);
                std::mem::forget(unfilled);
                self.hold(block, true, carried);
            }
            Some(block) => self.hold(block, false, carried),
            None => {}
        }
        self.start_metrics(opened, carried);
    }

    #[inline(always)]
    fn hold(&mut self, block: BlockRef, recording: bool, carried: bool) {
        self.block = Some(block);
        if !carried {
            enter_opened(block, self.callsite, recording);
        }
    }

    #[inline(always)]
    fn start_metrics(&mut self, opened: Option<BlockRef>, carried: bool) {
        if !carried && !self.metrics.is_none() {
            self.metrics.start(start_reading(opened));
        }
    }
}
