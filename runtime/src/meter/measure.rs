//! Measures the calls of an annotated function: their number, duration and outcome, and how many are in progress.
//!
//! One flag and one pair of clock readings serve the span and the metrics of a function.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::declare::amount::Amount;
use crate::declare::callsite::{Callsite, METER, METER_CAPTURE, NEW};
use crate::declare::cells::{Metric, RECORD, Table};
use crate::declare::meter::Meter;
use crate::declare::metric::Labels;
use crate::declare::switch;
use crate::meter::{capture, exemplar};
use crate::record::clock;
use crate::record::finished::Outcome;
use crate::record::propagated::Propagated;
use crate::trace::error::TcError;
use crate::trace::metrics::{Metrics, Site};
use crate::trace::observe::Verdict;
use crate::trace::outside_capture;

/// A callsite whose function has metrics.
#[derive(Clone, Copy)]
pub struct Metered(pub &'static Callsite);

impl Site for Metered {
    type Metrics = Option<Measure>;

    #[inline(always)]
    fn callsite(self) -> &'static Callsite {
        self.0
    }
}

/// The measurement of one call. If dropped while it runs, it records the outcome `if_dropped`, or an error instead of a
/// cancellation if an item of the stream was an error.
pub struct Measure {
    meter: &'static Meter,
    /// The index of the label set that was known at the start; `u32::MAX` if it is out of range. It is a `u32` so that its
    /// product with the number of result labels fits into a `u64`.
    entry: u32,
    started: u64,
    /// The table in which the call is counted as in progress. The same table is decremented at the end, even if metrics were
    /// switched off or restarted meanwhile.
    in_flight: Option<&'static Table>,
    /// The capture to which the call belongs; `None` outside of captures.
    capture: Option<Arc<Propagated>>,
    running: bool,
    /// The outcome to record if the measurement is dropped while it runs.
    if_dropped: Outcome,
    /// Whether an item of the stream was an error; `error_type` is the type of the last such error, if it is known.
    failed: bool,
    error_type: Option<&'static str>,
}

impl Measure {
    /// Creates the measurement of a call with these labels, without starting it. `None` if the metrics of the function are
    /// off.
    #[inline(always)]
    fn of(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Option<Self> {
        let meter = callsite.metrics()?;
        let is_plain = callsite.state() & (METER | METER_CAPTURE | NEW) == METER;
        let capture = if is_plain { None } else { captured_or_new(callsite, meter)? };
        let entry = u32::try_from(labels().index()).unwrap_or(u32::MAX);
        let if_dropped = Outcome::Panicked;
        let (started, in_flight, running, failed, error_type) = (0, None, false, false, None);
        Some(Measure { meter, entry, started, in_flight, capture, running, if_dropped, failed, error_type })
    }

    /// Starts the measurement, at `reading` if the clock was read already.
    #[inline(always)]
    fn start(&mut self, reading: Option<u64>) {
        self.running = true;
        if self.meter.times_calls() {
            self.started = reading.unwrap_or_else(clock::now);
        }
        if let Some(metric) = self.meter.in_flight {
            self.enter(metric);
        }
    }

    /// Counts the call as in progress.
    #[inline(never)]
    fn enter(&mut self, metric: &'static Metric) {
        if let Some(propagated) = &self.capture {
            capture::into(propagated, metric, self.entry as usize, Amount::I64(1));
        } else if capture::state(metric) & RECORD != 0 {
            let table = metric.ready_table();
            metric.move_in(table, self.entry as usize, false, 1_u64);
            self.in_flight = Some(table);
        }
    }

    /// Returns the clock reading for the end: `reading` if the clock was read already, else a new one, or 0 if there is no
    /// duration metric.
    fn end_reading(&self, reading: Option<u64>) -> u64 {
        reading.unwrap_or_else(|| if self.meter.duration.is_some() { clock::now() } else { 0 })
    }

    /// Records the outcome if the measurement is running, ends it, and releases its capture.
    #[inline(never)]
    fn finish(&mut self, end: u64, outcome: Outcome, verdict: &Verdict) {
        if std::mem::replace(&mut self.running, false) {
            self.tell(end, outcome, verdict);
        }
        drop(self.capture.take());
    }

    #[inline(always)]
    fn tell(&mut self, end: u64, outcome: Outcome, verdict: &Verdict) {
        self.leave();
        let outcome = if outcome == Outcome::Ok && verdict.failed { Outcome::Error } else { outcome };
        let Meter { duration, calls, errors, results, no_result, .. } = *self.meter;
        let result = verdict.labels.index().unwrap_or(no_result);
        let set = u64::from(self.entry) * u64::from(results) + u64::from(result);
        let set = usize::try_from(set).unwrap_or(usize::MAX);
        if let Some(duration) = duration {
            self.record(duration, set, self.started, end);
        }
        if let Some(calls) = calls {
            self.count(calls, by_outcome(calls, set, 4, outcome as usize, outcome, verdict));
        }
        if let (Some(errors), true) = (errors, outcome != Outcome::Ok) {
            self.count_failure(errors, set, outcome, verdict);
        }
    }

    #[cold]
    #[inline(never)]
    fn count_failure(&self, errors: &'static Metric, set: usize, outcome: Outcome, verdict: &Verdict) {
        let failure = match outcome {
            Outcome::Error => 0,
            Outcome::Panicked => 1,
            Outcome::Ok | Outcome::Cancelled => return,
        };
        self.count(errors, by_outcome(errors, set, 2, failure, outcome, verdict));
    }

    /// Records an item of a stream. `last` is the arrival time of the previous item, and is updated.
    fn item(&self, last: &mut Option<u64>) {
        if let Some(items) = self.meter.items {
            self.count(items, self.entry as usize);
        }
        if !self.meter.times_items() {
            return;
        }
        let now = clock::now();
        match (last.replace(now), self.meter.first_item, self.meter.per_item) {
            (None, Some(first), _) => self.record(first, self.entry as usize, self.started, now),
            (Some(last), _, Some(per_item)) => self.record(per_item, self.entry as usize, last, now),
            _ => {}
        }
    }

    /// Returns the verdict on a stream: failed if one of its items was an error.
    fn of_items(&self) -> Verdict {
        Verdict { failed: self.failed, error_type: self.error_type, ..Verdict::default() }
    }

    /// Stops counting the call as in progress.
    #[inline(always)]
    fn leave(&mut self) {
        let Some(metric) = self.meter.in_flight else { return };
        if let Some(propagated) = &self.capture {
            capture::into(propagated, metric, self.entry as usize, Amount::I64(-1));
        } else if let Some(table) = self.in_flight.take() {
            metric.move_in(table, self.entry as usize, true, 1_u64);
        }
    }

    #[inline(always)]
    fn count(&self, metric: &'static Metric, set: usize) {
        match &self.capture {
            Some(propagated) => capture::into(propagated, metric, set, Amount::U64(1)),
            None if capture::state(metric) & RECORD != 0 => metric.add(set, 1_u64),
            None => {}
        }
    }

    /// Records the time between two readings of the clock.
    #[inline(always)]
    fn record(&self, metric: &'static Metric, set: usize, from: u64, to: u64) {
        let seconds = clock::seconds(from, to);
        match &self.capture {
            Some(propagated) => capture::into(propagated, metric, set, Amount::F64(seconds)),
            None if capture::state(metric) & RECORD != 0 => exemplar::record(metric, set, seconds),
            None => {}
        }
    }
}

/// Returns the capture of a call, and `Some(None)` if the call is measured outside of captures; `None` if the call is not
/// measured. For callsites that are new or that a capture may use.
#[cold]
#[inline(never)]
fn captured_or_new(callsite: &'static Callsite, meter: &'static Meter) -> Option<Option<Arc<Propagated>>> {
    let state = callsite.state();
    let state = if state & NEW == 0 { state } else { switch::resolve(callsite) };
    let capture = if state & METER_CAPTURE != 0 { capture::current() } else { None };
    if capture.is_none() && state & METER == 0 {
        if state & METER_CAPTURE != 0 {
            meter.metrics().take(1).for_each(|metric| outside_capture::note(metric.meta().name));
        }
        return None;
    }
    Some(capture)
}

/// Returns the index of the label set extended by the outcome, and by the error type if the metric has that label.
#[inline(always)]
fn by_outcome(
    metric: &Metric,
    set: usize,
    outcomes: usize,
    ordinal: usize,
    outcome: Outcome,
    verdict: &Verdict,
) -> usize {
    let set = set.saturating_mul(outcomes).saturating_add(ordinal);
    if metric.meta().error_type_count() == 1 { set } else { by_error_type(metric, set, outcome, verdict) }
}

#[inline(never)]
fn by_error_type(metric: &Metric, set: usize, outcome: Outcome, verdict: &Verdict) -> usize {
    let error_type = verdict.error_type.filter(|_| outcome == Outcome::Error);
    let meta = metric.meta();
    set.saturating_mul(meta.error_type_count()).saturating_add(meta.error_type_ordinal(error_type))
}

impl Drop for Measure {
    fn drop(&mut self) {
        if self.running {
            let end = self.end_reading(None);
            // Consumers often drop a stream after it yielded an error: such a call failed and was not cancelled.
            let failed = self.failed && self.if_dropped == Outcome::Cancelled;
            let outcome = if failed { Outcome::Error } else { self.if_dropped };
            self.finish(end, outcome, &Verdict { failed: false, ..self.of_items() });
        }
    }
}

/// The measurement of a call, carried by the wrapper of its function; `None` while metrics are off.
impl Metrics for Option<Measure> {
    #[inline(always)]
    fn none() -> Self {
        None
    }

    #[inline(always)]
    fn of(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Self {
        Measure::of(callsite, labels)
    }

    #[inline(always)]
    fn is_none(&self) -> bool {
        Option::is_none(self)
    }

    #[inline]
    fn start(&mut self, reading: Option<u64>) {
        if let Some(measure) = self
            && !measure.running
        {
            measure.start(reading);
        }
    }

    #[inline]
    fn if_dropped(&mut self, outcome: Outcome) {
        if let Some(measure) = self {
            measure.if_dropped = outcome;
        }
    }

    #[inline]
    fn end_reading(&self, reading: Option<u64>) -> u64 {
        self.as_ref().map_or(0, |measure| measure.end_reading(reading))
    }

    #[inline]
    fn end(&mut self, end: u64, verdict: &Verdict) {
        if let Some(measure) = self {
            measure.finish(end, Outcome::Ok, verdict);
            std::mem::forget(self.take());
        }
    }

    fn item(&mut self, last: &mut Option<u64>) {
        if let Some(measure) = self {
            measure.item(last);
        }
    }

    fn judge_item(&mut self, verdict: &Verdict) {
        if let (Some(measure), true) = (self, verdict.failed) {
            (measure.failed, measure.error_type) = (true, verdict.error_type);
        }
    }

    fn end_items(&mut self, end: u64) {
        let verdict = self.as_ref().map(Measure::of_items).unwrap_or_default();
        Metrics::end(self, end, &verdict);
    }
}

/// The error types of a `Result` type.
pub struct ErrorSet<T>(PhantomData<fn() -> T>);

impl<T, E: TcError> ErrorSet<Result<T, E>> {
    /// The values of `error.type` that the error type defines.
    pub const TYPES: &'static [&'static str] = E::TYPES;
}

/// The error types of results whose error does not implement `TcError`, and of other types: none. If `ErrorSet` has the
/// inherent constant, the compiler prefers it.
pub trait FallbackTypes {
    /// No types.
    const TYPES: &'static [&'static str] = &[];
}

impl<T> FallbackTypes for ErrorSet<T> {}
