//! Exemplars: for each bucket of a histogram one measurement with the trace it belongs to.
//!
//! Taken at most once per bucket between two collections, and only inside of a span that is sampled. So the way of a
//! measurement is hardly longer, and it can be followed from a slow bucket to a trace.

use std::sync::TryLockError;

use crate::block::SAMPLED;
use crate::cells::histogram::Sample;
use crate::cells::{self, Exemplar, Metric, Taking};
use crate::clock;
use crate::local;

/// Records a value in a histogram, and takes it as an exemplar if its bucket wants one and the current span is sampled.
#[inline(always)]
pub(crate) fn record<N: Sample>(metric: &'static Metric, set: usize, value: N) {
    metric.record(set, value, |taking, set, bucket, value| {
        if local::with(|local| local.current().is_some_and(|span| span.has(SAMPLED))) {
            take(metric, taking, (set, bucket), value);
        }
    });
}

#[cold]
#[inline(never)]
fn take(metric: &'static Metric, taking: &Taking, place: (usize, usize), value: f64) {
    let ids = local::with(|local| {
        let span = local.current()?;
        let [upper, lower] = span.trace_id.get();
        Some((u128::from(upper) << 64 | u128::from(lower), span.span_id.get()))
    });
    let Some((trace_id @ 1.., span_id @ 1..)) = ids else { return };
    let mut exemplars = match metric.table().exemplars.try_lock() {
        Ok(exemplars) => exemplars,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Somebody else takes one, or collects: the next measurement may try again.
        Err(TryLockError::WouldBlock) => return,
    };
    exemplars.insert(place, Exemplar { value, ticks: clock::now(), trace_id, span_id });
    taking.took(place.1, cells::epoch());
}
