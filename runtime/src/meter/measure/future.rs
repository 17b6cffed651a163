//! Futures that are measured, inside of their spans.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use super::{Measure, Verdict};
use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::finished::Outcome;
use crate::trace::future::{Abandoned, Carried};
use crate::trace::span::{self, End, IntoParent, Pending, Start};

/// A span, if there is one, and a measure, whose clocks have not started: on their way to where they run.
pub struct Begun {
    span: Option<Pending>,
    measure: Option<Measure>,
}

impl Begun {
    fn of(span: Option<Pending>, measure: Option<Measure>) -> Option<Self> {
        let measure = measure.map(|mut measure| {
            measure.if_dropped = Outcome::Cancelled;
            measure
        });
        (span.is_some() || measure.is_some()).then_some(Begun { span, measure })
    }
}

/// Opens the span and takes the labels of a future or stream.
pub fn begin_measured<F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    fields: F,
    labels: impl FnOnce() -> Labels,
) -> Option<Begun> {
    let measure = Measure::of(callsite, labels);
    Begun::of(span::begin(callsite, fields), measure)
}

/// As `begin_measured`, with the span below a given parent.
pub fn begin_measured_under<P: IntoParent, F: FnOnce(&mut Start)>(
    callsite: &'static Callsite,
    parent: impl FnOnce() -> P,
    fields: F,
    labels: impl FnOnce() -> Labels,
) -> Option<Begun> {
    let measure = Measure::of(callsite, labels);
    Begun::of(span::begin_under(callsite, parent, fields), measure)
}

/// Takes the labels of a future or stream that has no span.
pub fn begin_metric(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Option<Begun> {
    Begun::of(None, Measure::of(callsite, labels))
}

/// The span and the measure of a future or stream that is polled.
pub(super) struct Running {
    pub(super) span: Option<Carried>,
    pub(super) measure: Option<Measure>,
}

impl Running {
    pub(super) fn new(begun: Option<Begun>) -> Self {
        let (span, measure) = begun.map_or((None, None), |begun| (begun.span, begun.measure));
        Running { span: span.map(Carried::new), measure }
    }

    #[inline(always)]
    pub(super) fn is_off(&self) -> bool {
        self.span.is_none() && self.measure.is_none()
    }

    /// Runs one poll inside of the span. The clocks start with the first.
    pub(super) fn poll<R>(&mut self, poll: impl FnOnce(Option<&Carried>, &mut Option<Measure>) -> R) -> R {
        if let Some(measure) = &mut self.measure {
            if !measure.running {
                measure.start(self.span.as_ref().and_then(Carried::started));
            }
            measure.if_dropped = Outcome::Panicked;
        }
        let polled = match &self.span {
            Some(span) => span.poll(|| poll(Some(span), &mut self.measure)),
            None => poll(None, &mut self.measure),
        };
        if let Some(measure) = &mut self.measure {
            measure.if_dropped = Outcome::Cancelled;
        }
        polled
    }

    /// Ends the span, at a reading of the clock.
    pub(super) fn complete(&mut self, reading: Option<u64>) {
        if let Some(span) = self.span.take() {
            span.complete_at(reading);
        }
    }

    /// Drops what was running inside of the span, with `drop`; both end with it.
    #[inline(always)]
    pub(super) fn abandon(&mut self, drop: impl FnOnce()) {
        if self.is_off() {
            return drop();
        }
        std::hint::cold_path();
        // Dropped in reverse: the measure ends inside of the span.
        let _span = self.span.take().map(Abandoned::enter);
        let _measure = self.measure.take();
        drop();
    }
}

/// Ends the measure while its span is current, which then is the exemplar of its duration. Gives the reading of the clock
/// at which the span ends too.
pub(super) fn end_inside(span: Option<&Carried>, measure: &mut Option<Measure>, verdict: &Verdict) -> Option<u64> {
    let reading = span.and_then(Carried::end_reading);
    if let Some(measure) = measure.take() {
        let end = measure.end_reading(reading);
        measure.end(end, Outcome::Ok, verdict);
    }
    reading
}

const _: () = {
    // The wrappers say that they cross threads if their parts do, and do not speak of this one.
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<Running>();
};

/// A future that is measured, inside of its span.
#[must_use = "futures do nothing unless awaited"]
pub struct Measured<F, H, J> {
    running: Running,
    /// Dropped by hand, inside the span.
    future: ManuallyDrop<F>,
    observe: H,
    judge: J,
}

// Written out for the same reason as for `Instrumented`.
// SAFETY: its parts are.
unsafe impl<F: Send, H: Send, J: Send> Send for Measured<F, H, J> {}
// SAFETY: its parts are.
unsafe impl<F: Sync, H: Sync, J: Sync> Sync for Measured<F, H, J> {}

impl<F, H, J> Measured<F, H, J>
where
    F: Future,
    H: Fn(&F::Output, &mut End),
    J: Fn(&F::Output, &mut Verdict),
{
    /// Runs `future`; `observe` sees its output if the span is recorded, `judge` if it is measured.
    #[inline(always)]
    pub fn new(begun: Option<Begun>, future: F, observe: H, judge: J) -> Self {
        Measured { running: Running::new(begun), future: ManuallyDrop::new(future), observe, judge }
    }
}

impl<F, H, J> Future for Measured<F, H, J>
where
    F: Future,
    H: Fn(&F::Output, &mut End),
    J: Fn(&F::Output, &mut Verdict),
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned `future`, neither here nor in `drop`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: it lies in `self`, which is pinned.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        if this.running.is_off() {
            return future.poll(task);
        }
        std::hint::cold_path();
        let polled = this.running.poll(|span, measure| {
            future.poll(task).map(|output| {
                if let Some(mut end) = span.and_then(Carried::end) {
                    (this.observe)(&output, &mut end);
                }
                let mut verdict = Verdict::default();
                if measure.is_some() {
                    (this.judge)(&output, &mut verdict);
                }
                (output, end_inside(span, measure, &verdict))
            })
        });
        polled.map(|(output, reading)| {
            this.running.complete(reading);
            output
        })
    }
}

impl<F, H, J> Drop for Measured<F, H, J> {
    #[inline]
    fn drop(&mut self) {
        let future = &mut self.future;
        // SAFETY: dropped once, here, in place, as pinning demands; nobody sees it afterwards.
        self.running.abandon(|| unsafe { ManuallyDrop::drop(future) });
    }
}
