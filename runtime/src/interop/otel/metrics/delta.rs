//! Deltas of observed counters: their growth since the last export.
//!
//! If a counter's value has decreased, the counter has restarted, and the whole value is new. A counter that was not
//! observed for a while, because its callback hung, continues from its last value.

use std::collections::HashMap;

use crate::declare::metric::MetricKind;
use crate::meter::snapshot::{MetricPoints, PointValue, Series, Temporality};

/// The number of exports for which the state of a series is kept while it is not observed.
const REMEMBERED: u64 = 16;

/// The exported values of each stream.
#[derive(Default)]
pub(super) struct Deltas {
    round: u64,
    streams: HashMap<(String, Option<String>, String), Stream>,
}

#[derive(Default)]
struct Stream {
    /// The time of the stream's last export.
    time: Option<u64>,
    series: HashMap<Series, Shown>,
}

struct Shown {
    value: PointValue,
    round: u64,
}

impl Deltas {
    /// Converts all cumulative counters to deltas. Only observed counters are cumulative here.
    pub(super) fn apply(&mut self, metrics: &mut [MetricPoints]) {
        self.round += 1;
        let observed = |metric: &&mut MetricPoints| {
            metric.kind == MetricKind::Counter && metric.temporality == Temporality::Cumulative
        };
        for metric in metrics.iter_mut().filter(observed) {
            let Some(scope) = &metric.scope else { continue };
            let place = (scope.name.clone(), scope.version.clone(), metric.name.to_string());
            let stream = self.streams.entry(place).or_default();
            metric.temporality = Temporality::Delta;
            metric.start_unix_nanos = stream.time.or(metric.start_unix_nanos);
            stream.time = Some(metric.time_unix_nanos);
            for point in &mut metric.points {
                let now = point.value.clone();
                let before = stream.series.insert(point.series(), Shown { value: now.clone(), round: self.round });
                point.value = since(now, before.map(|shown| shown.value));
            }
            stream.series.retain(|_, shown| shown.round + REMEMBERED > self.round);
        }
    }
}

fn since(now: PointValue, before: Option<PointValue>) -> PointValue {
    match (now, before) {
        (PointValue::U64(now), Some(PointValue::U64(before))) if now >= before => PointValue::U64(now - before),
        (PointValue::F64(now), Some(PointValue::F64(before))) if now >= before => PointValue::F64(now - before),
        (now, _) => now,
    }
}
