//! Measuring the calls of an annotated function: how many, how long, how they end, how many at a time.
//!
//! One flag and one pair of clock readings serve the span and the metrics of a function.

mod call;
mod future;
mod judge;
mod rewrap;
mod scope;
mod stream;
mod verdict;

use std::sync::Arc;

pub use self::call::{measured, measured_body, start_measured, start_measured_under, start_metric};
pub use self::future::{Measured, begin_measured, begin_measured_under, begin_metric};
pub use self::judge::{JudgeNothing, JudgeResult, JudgeTyped};
pub use self::rewrap::{rewrap_measured, rewrap_stream_measured};
pub use self::scope::{MeasuredScope, enter_measured, enter_measured_under, enter_metric};
pub use self::stream::{MeasuredStream, MeasuredStreamFuture};
pub(crate) use self::verdict::Verdict;
pub use self::verdict::{ErrorSet, FallbackTypes, check_labels, unjudged};

use crate::declare::amount::Amount;
use crate::declare::callsite::{Callsite, METER, METER_CAPTURE, NEW};
use crate::declare::cells::{Metric, RECORD, Table};
use crate::declare::meter::Meter;
use crate::declare::metric::Labels;
use crate::declare::switch;
use crate::meter::{capture, exemplar};
use crate::record::clock;
use crate::record::ext::Ext;
use crate::record::finished::Outcome;
use crate::trace::stray;

/// One call that is measured. Dropped before its end, it ends as it was said to.
pub(crate) struct Measure {
    meter: &'static Meter,
    /// The index of the labels that were known at the beginning.
    entry: usize,
    started: u64,
    /// The cells in which it is counted as in progress: it is taken out of the same ones, whatever was switched since.
    in_flight: Option<&'static Table>,
    /// The capture it belongs to, if any.
    capture: Option<Arc<Ext>>,
    running: bool,
    /// What became of it if nobody says so, and of which type its error was.
    if_dropped: Outcome,
    error_type: Option<&'static str>,
}

impl Measure {
    /// The measure of a call with these labels, if its function is to be measured. It does not run yet.
    fn of(callsite: &'static Callsite, labels: impl FnOnce() -> Labels) -> Option<Self> {
        let meter = callsite.metrics()?;
        let state = callsite.state();
        let state = if state & NEW == 0 { state } else { switch::resolve(callsite) };
        let capture = if state & METER_CAPTURE != 0 { capture::current() } else { None };
        if capture.is_none() && state & METER == 0 {
            if state & METER_CAPTURE != 0 {
                meter.metrics().take(1).for_each(|metric| stray::note(metric.meta().name));
            }
            return None;
        }
        let entry = labels().index();
        let if_dropped = Outcome::Panicked;
        let (started, in_flight, running, error_type) = (0, None, false, None);
        Some(Measure { meter, entry, started, in_flight, capture, running, if_dropped, error_type })
    }

    /// Begins, at a reading of the clock if there is one already.
    fn start(&mut self, reading: Option<u64>) {
        self.running = true;
        if self.meter.times_calls() {
            self.started = reading.unwrap_or_else(clock::now);
        }
        let Some(metric) = self.meter.in_flight else { return };
        if let Some(ext) = &self.capture {
            capture::into(ext, metric, self.entry, Amount::I64(1));
        } else if capture::state(metric) & RECORD != 0 {
            let table = metric.ready_table();
            metric.move_in(table, self.entry, false, 1_u64);
            self.in_flight = Some(table);
        }
    }

    /// A reading of the clock for the end, if one is needed and there is none.
    fn end_reading(&self, reading: Option<u64>) -> u64 {
        reading.unwrap_or_else(|| if self.meter.duration.is_some() { clock::now() } else { 0 })
    }

    /// Ends, at a reading of the clock.
    fn end(mut self, end: u64, outcome: Outcome, verdict: &Verdict) {
        self.finish(end, outcome, verdict);
    }

    fn finish(&mut self, end: u64, outcome: Outcome, verdict: &Verdict) {
        if !std::mem::replace(&mut self.running, false) {
            return;
        }
        self.leave();
        let outcome = if outcome == Outcome::Ok && verdict.failed { Outcome::Error } else { outcome };
        let result = verdict.labels.unwrap_or(self.meter.no_result);
        let set = self.entry.saturating_mul(self.meter.results).saturating_add(result);
        if let Some(duration) = self.meter.duration {
            self.record(duration, set, self.started, end);
        }
        let error_type = verdict.error_type.filter(|_| outcome == Outcome::Error);
        if let Some(calls) = self.meter.calls {
            self.count(calls, by_outcome(calls, set, 4, outcome as usize, error_type));
        }
        let failure = match outcome {
            Outcome::Error => Some(0),
            Outcome::Panicked => Some(1),
            Outcome::Ok | Outcome::Cancelled => None,
        };
        if let (Some(errors), Some(failure)) = (self.meter.errors, failure) {
            self.count(errors, by_outcome(errors, set, 2, failure, error_type));
        }
    }

    /// An error came, and nothing more will.
    fn fail(&mut self, verdict: Verdict) {
        // Unless it was unwound.
        if self.if_dropped == Outcome::Cancelled {
            (self.if_dropped, self.error_type) = (Outcome::Error, verdict.error_type);
        }
    }

    /// It is no longer in progress.
    fn leave(&mut self) {
        let Some(metric) = self.meter.in_flight else { return };
        if let Some(ext) = &self.capture {
            capture::into(ext, metric, self.entry, Amount::I64(-1));
        } else if let Some(table) = self.in_flight.take() {
            metric.move_in(table, self.entry, true, 1_u64);
        }
    }

    fn count(&self, metric: &'static Metric, set: usize) {
        match &self.capture {
            Some(ext) => capture::into(ext, metric, set, Amount::U64(1)),
            None if capture::state(metric) & RECORD != 0 => metric.add(set, 1_u64),
            None => {}
        }
    }

    /// Records the time between two readings of the clock.
    fn record(&self, metric: &'static Metric, set: usize, from: u64, to: u64) {
        let seconds = clock::seconds(from, to);
        match &self.capture {
            Some(ext) => capture::into(ext, metric, set, Amount::F64(seconds)),
            None if capture::state(metric) & RECORD != 0 => exemplar::record(metric, set, seconds),
            None => {}
        }
    }
}

/// The index of a set with its outcome and the type of its error.
fn by_outcome(metric: &Metric, set: usize, outcomes: usize, outcome: usize, error_type: Option<&str>) -> usize {
    let types = metric.meta().error_type_count();
    let error_type = if types == 1 { 0 } else { metric.meta().error_type_ordinal(error_type) };
    set.saturating_mul(outcomes).saturating_add(outcome).saturating_mul(types).saturating_add(error_type)
}

impl Drop for Measure {
    fn drop(&mut self) {
        if self.running {
            let end = self.end_reading(None);
            let verdict = Verdict { error_type: self.error_type, ..Verdict::default() };
            self.finish(end, self.if_dropped, &verdict);
        }
    }
}
