//! The metrics of a call, future or stream, which its wrapper carries beside the span.
//!
//! Metrics belong to a room above this one, so the wrappers are generic over these traits.

use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::finished::Outcome;
use crate::trace::observe::Verdict;

/// The metrics of one call, or none. Metrics that are dropped while they run record the outcome set by `if_dropped`.
pub trait Metrics: Send + Sync + Sized + 'static {
    /// Creates an empty value, without metrics. A function and not a constant, because a constant would be copied with all its
    /// bytes.
    fn none() -> Self;

    /// Creates the metrics of a call with these labels, not started yet; empty if the call is not to be measured.
    fn of(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Self;

    /// Returns whether there are no metrics.
    fn is_none(&self) -> bool;

    /// Starts the metrics if they are not running, with the clock reading of the span if there is one.
    fn start(&mut self, reading: Option<u64>);

    /// Sets the outcome to record if the metrics are dropped while they run.
    fn if_dropped(&mut self, outcome: Outcome);

    /// Returns the clock reading for the end: `reading`, or a new reading if there is none and the metrics need it.
    fn end_reading(&self, reading: Option<u64>) -> u64;

    /// Ends the metrics at a clock reading, and leaves none.
    fn end(&mut self, end: u64, verdict: &Verdict);

    /// Records an item of a stream. `last` is the arrival time of the previous item, and is updated.
    fn item(&mut self, last: &mut Option<u64>);

    /// Applies an item's verdict: after an error the stream counts as failed.
    fn judge_item(&mut self, verdict: &Verdict);

    /// Ends the metrics of a stream at a clock reading.
    fn end_items(&mut self, end: u64);

    /// Takes the metrics out, leaving none.
    #[inline(always)]
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::none())
    }
}

impl Metrics for () {
    #[inline(always)]
    fn none() -> Self {}

    #[inline(always)]
    fn of(_: &'static Callsite, _: impl FnOnce() -> Labels) -> Self {}

    #[inline(always)]
    fn is_none(&self) -> bool {
        true
    }

    #[inline(always)]
    fn start(&mut self, _: Option<u64>) {}

    #[inline(always)]
    fn if_dropped(&mut self, _: Outcome) {}

    #[inline(always)]
    fn end_reading(&self, reading: Option<u64>) -> u64 {
        reading.unwrap_or(0)
    }

    #[inline(always)]
    fn end(&mut self, _: u64, _: &Verdict) {}

    #[inline(always)]
    fn item(&mut self, _: &mut Option<u64>) {}

    #[inline(always)]
    fn judge_item(&mut self, _: &Verdict) {}

    #[inline(always)]
    fn end_items(&mut self, _: u64) {}
}

/// A callsite, with the type of the metrics of its calls.
pub trait Site: Copy {
    /// The type of the metrics.
    type Metrics: Metrics;

    /// Returns the callsite.
    fn callsite(self) -> &'static Callsite;
}

impl Site for &'static Callsite {
    type Metrics = ();

    #[inline(always)]
    fn callsite(self) -> &'static Callsite {
        self
    }
}
