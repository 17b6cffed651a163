//! Exemplars: for each bucket of a histogram one measurement with the ids of its span, which lead from a slow bucket to a
//! trace.
//!
//! At most one exemplar is taken per bucket between two collections, by default only inside of a sampled span, so exemplars
//! add little to the cost of a measurement.

use std::sync::TryLockError;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::declare::cells::histogram::Sample;
use crate::declare::cells::{self, Exemplar, Metric, Taking};
use crate::record::block::SAMPLED;
use crate::record::clock;
use crate::record::local;

/// Selects the histogram measurements that become exemplars.
///
/// ```
/// use tracecast::testing::{Exemplars, MetricsConfig};
///
/// let config = MetricsConfig::default().with_exemplars(Exemplars::Off);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exemplars {
    /// Measurements inside of a sampled span.
    #[default]
    InSampledSpans,
    /// All measurements. Exemplars from outside of spans have no trace id and no span id.
    Everywhere,
    /// No measurements.
    Off,
}

static FILTER: AtomicU8 = AtomicU8::new(Exemplars::InSampledSpans as u8);

/// Sets which measurements become exemplars from now on.
pub(crate) fn set_filter(filter: Exemplars) {
    FILTER.store(filter as u8, Relaxed);
}

/// Records a value in a histogram, and takes it as an exemplar if its bucket needs one and the filter allows it.
#[inline(always)]
pub(crate) fn record<N: Sample>(metric: &'static Metric, set: usize, value: N) {
    metric.record(set, value, |taking, set, bucket, value| {
        if is_wanted() {
            take(metric, taking, (set, bucket), value);
        }
    });
}

#[inline(always)]
fn is_wanted() -> bool {
    const IN_SAMPLED_SPANS: u8 = Exemplars::InSampledSpans as u8;
    const EVERYWHERE: u8 = Exemplars::Everywhere as u8;
    match FILTER.load(Relaxed) {
        IN_SAMPLED_SPANS => local::with(|local| local.current().is_some_and(|span| span.has(SAMPLED))),
        filter => filter == EVERYWHERE,
    }
}

#[cold]
#[inline(never)]
fn take(metric: &'static Metric, taking: &Taking, place: (usize, usize), value: f64) {
    let ids = local::with(|local| {
        let span = local.current()?;
        let [upper, lower] = span.trace_id.get();
        Some((u128::from(upper) << 64 | u128::from(lower), span.span_id.get()))
    });
    // Outside of spans there are no ids; in an unsampled span there may be none.
    let (trace_id, span_id) = ids.filter(|(trace_id, span_id)| *trace_id != 0 && *span_id != 0).unwrap_or_default();
    if trace_id == 0 && FILTER.load(Relaxed) != Exemplars::Everywhere as u8 {
        return;
    }
    let mut exemplars = match metric.table().exemplars.try_lock() {
        Ok(exemplars) => exemplars,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Another thread takes an exemplar or collects: the next measurement may try again.
        Err(TryLockError::WouldBlock) => return,
    };
    exemplars.insert(place, Exemplar { value, ticks: clock::now(), trace_id, span_id });
    taking.took(place.1, cells::epoch());
}
