//! Routes measurements that may belong to the capture of a test, or whose metric is not registered yet: to the capture, to
//! their cell, or nowhere.

use std::sync::Arc;

use crate::declare::amount::{Amount, Measurement};
use crate::declare::cells::{CAPTURE, Metric, NEW, RECORD};
use crate::declare::metric::MetricKind;
use crate::declare::switch;
use crate::meter::exemplar;
use crate::record::block::CAPTURED;
use crate::record::local;
use crate::record::propagated::Propagated;
use crate::trace::context;
use crate::trace::outside_capture;

/// Returns the capture to which the current context belongs; `None` outside of captures.
pub(crate) fn current() -> Option<Arc<Propagated>> {
    local::with(|local| local.current().filter(|block| block.has(CAPTURED)).and_then(context::propagated_of))
        .filter(|propagated| propagated.sink.is_some())
}

/// Passes a measurement to the current capture. Outside of captures, records a measurement in its cell if the metric is on;
/// if the metric is off while a capture runs, notes the metric's name for `Captured::outside_capture`.
#[cold]
pub(crate) fn measured(metric: &'static Metric, set: usize, amount: Amount) {
    let state = state(metric);
    if state & CAPTURE != 0 {
        if let Some(propagated) = current() {
            return into(&propagated, metric, set, amount);
        }
        if state & RECORD == 0 {
            outside_capture::note(metric.meta().name);
        }
    }
    if state & RECORD != 0 {
        record(metric, set, amount);
    }
}

/// Returns the state of a metric. Registers it first if necessary.
#[inline]
pub(crate) fn state(metric: &'static Metric) -> i8 {
    let state = metric.state();
    if state & NEW == 0 { state } else { switch::resolve_metric(metric) }
}

/// Passes a measurement to a capture. A measurement that a cell would reject is only counted as rejected.
pub(crate) fn into(propagated: &Propagated, metric: &'static Metric, set: usize, amount: Amount) {
    let meta = metric.meta();
    if set >= meta.sets() || !is_acceptable(meta.kind, amount) {
        return metric.refuse();
    }
    if let Some(sink) = &propagated.sink {
        sink.measured(Measurement { meta, set, amount });
    }
}

fn is_acceptable(kind: MetricKind, amount: Amount) -> bool {
    let signed = matches!(kind, MetricKind::UpDownCounter | MetricKind::Gauge);
    match amount {
        Amount::U64(value) => value <= i64::MAX as u64,
        Amount::I64(value) => value != i64::MIN && (signed || value >= 0),
        Amount::F64(value) => value.is_finite() && (signed || value >= 0.0),
        Amount::Gone => true,
    }
}

/// Records a measurement in its cell.
fn record(metric: &'static Metric, set: usize, amount: Amount) {
    match (metric.meta().kind, amount) {
        (MetricKind::Counter, Amount::U64(value)) => metric.add(set, value),
        (MetricKind::Counter, Amount::F64(value)) => metric.add(set, value),
        (MetricKind::UpDownCounter, Amount::I64(value)) => metric.move_by(set, value < 0, value.unsigned_abs()),
        (MetricKind::UpDownCounter, Amount::F64(value)) => metric.move_by(set, value < 0.0, value.abs()),
        (MetricKind::Gauge, Amount::F64(value)) => metric.set(set, Some(value)),
        (MetricKind::Gauge, Amount::U64(value)) => metric.set(set, Some(value)),
        (MetricKind::Gauge, Amount::I64(value)) => metric.set(set, Some(value)),
        (MetricKind::Gauge, Amount::Gone) => metric.set::<f64>(set, None),
        (MetricKind::Histogram, Amount::F64(value)) => exemplar::record(metric, set, value),
        (MetricKind::Histogram, Amount::U64(value)) => exemplar::record(metric, set, value),
        _ => metric.refuse(),
    }
}
