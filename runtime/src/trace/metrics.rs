//! What calls, futures and streams carry beside a span: nothing, or the measure of their metrics.
//!
//! Metrics are in a room above this one. So the wrappers are generic over what they carry, and know it by these traits.

use crate::declare::callsite::Callsite;
use crate::declare::metric::Labels;
use crate::record::finished::Outcome;
use crate::trace::observe::Verdict;

/// Metrics of one call, or none. Dropped while they run, they end as they were told to.
pub trait Metrics: Send + Sync + Sized + 'static {
    /// None. A function and no constant: a constant would be copied with all its bytes.
    fn none() -> Self;

    /// Those of a call with these labels, if it is to be measured. They do not run yet.
    fn of(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Self;

    /// Whether there are none.
    fn is_none(&self) -> bool;

    /// Starts them if they do not run, at a reading of the clock if the span has one.
    fn start(&mut self, reading: Option<u64>);

    /// How they end if nobody says so.
    fn if_dropped(&mut self, outcome: Outcome);

    /// A reading of the clock for the end: the given one, or one of their own if they need it.
    fn end_reading(&self, reading: Option<u64>) -> u64;

    /// Ends them where they are, at a reading of the clock: there are none afterwards.
    fn end(&mut self, end: u64, verdict: &Verdict);

    /// An item of a stream came; `last` is the reading of the clock at the one before.
    fn item(&mut self, last: &mut Option<u64>);

    /// What the item says: after an error the stream has failed.
    fn judge_item(&mut self, verdict: &Verdict);

    /// Ends those of a stream, at a reading of the clock.
    fn end_items(&mut self, end: u64);

    /// Takes them out.
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

/// A callsite, and what its calls carry beside a span.
pub trait Site: Copy {
    /// Their metrics.
    type Metrics: Metrics;

    /// The callsite.
    fn callsite(self) -> &'static Callsite;
}

impl Site for &'static Callsite {
    type Metrics = ();

    #[inline(always)]
    fn callsite(self) -> &'static Callsite {
        self
    }
}
