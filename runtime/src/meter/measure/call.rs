//! A function whose measurement is its call.

use super::{Measure, Verdict};
use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::block::{BlockRef, RECORDING};
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::trace::span::{self, End, IntoParent, Start};

/// A call that is on: its span and its measure, each begun in front of the body.
pub struct Measuring {
    callsite: &'static Callsite,
    block: Option<BlockRef>,
    measure: Option<Measure>,
}

/// Still holds something only if the body panicked. The measure ends by itself, inside of the span.
impl Drop for Measuring {
    fn drop(&mut self) {
        drop(self.measure.take());
        if let Some(block) = self.block {
            span::leave(block, clock::now(), Outcome::Panicked);
        }
    }
}

/// A body as a closure that is called once.
#[inline(always)]
pub fn measured_body<R, F: FnOnce(Option<&mut Measuring>) -> R>(body: F) -> F {
    body
}

/// Runs a function that is on. `body` begins the span and the measure, and does the work; `observe` sees its result if
/// the span is recorded, `judge` if the call is measured.
#[inline(never)]
pub fn measured<R>(
    callsite: &'static Callsite,
    body: impl FnOnce(Option<&mut Measuring>) -> R,
    observe: impl FnOnce(&R, &mut End),
    judge: impl FnOnce(&R, &mut Verdict),
) -> R {
    let mut measuring = Measuring { callsite, block: None, measure: None };
    let result = body(Some(&mut measuring));
    let recorded = measuring.block.filter(|block| block.has(RECORDING));
    let reading = recorded.map(|_| clock::now());
    let end = measuring.measure.as_ref().map_or(0, |measure| measure.end_reading(reading));
    // The user's closures may panic; both end then as a panic of the function would have it.
    if let Some(block) = recorded {
        observe(&result, &mut End { block });
    }
    let mut verdict = Verdict::default();
    if measuring.measure.is_some() {
        judge(&result, &mut verdict);
    }
    // Inside of the span, which then is the exemplar of its duration.
    if let Some(measure) = measuring.measure.take() {
        measure.end(end, Outcome::Ok, &verdict);
    }
    if let Some(block) = measuring.block.take() {
        match reading {
            Some(end) => span::leave_recorded(block, end),
            None => span::leave(block, 0, Outcome::Ok),
        }
    }
    result
}

/// Begins the span and the measure of a function; `fields` is called if the span is recorded, `labels` if it is measured.
#[inline(always)]
pub fn start_measured<F: FnOnce(&mut Start)>(
    measuring: Option<&mut Measuring>,
    fields: F,
    labels: impl FnOnce() -> Labels,
) {
    if let Some(measuring) = measuring {
        let measure = Measure::of(measuring.callsite, labels);
        measuring.block = span::enter_block(measuring.callsite, fields);
        measuring.run(measure);
    }
}

/// As `start_measured`, with the span below a given parent.
#[inline(always)]
pub fn start_measured_under<P: IntoParent, F: FnOnce(&mut Start)>(
    measuring: Option<&mut Measuring>,
    parent: impl FnOnce() -> P,
    fields: F,
    labels: impl FnOnce() -> Labels,
) {
    if let Some(measuring) = measuring {
        let measure = Measure::of(measuring.callsite, labels);
        measuring.block = span::enter_block_under(measuring.callsite, parent, fields);
        measuring.run(measure);
    }
}

/// Begins the measure of a function that has no span.
#[inline(always)]
pub fn start_metric(measuring: Option<&mut Measuring>, labels: impl FnOnce() -> Labels) {
    if let Some(measuring) = measuring {
        let measure = Measure::of(measuring.callsite, labels);
        measuring.run(measure);
    }
}

impl Measuring {
    fn run(&mut self, measure: Option<Measure>) {
        self.measure = measure;
        if let Some(measure) = &mut self.measure {
            measure.start(span::start_reading(self.block));
        }
    }
}
