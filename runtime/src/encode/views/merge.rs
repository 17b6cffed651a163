//! Merges series that differ only in attributes that a view removes.

use std::collections::HashMap;

use crate::config::ViewStream;
use crate::declare::metric::MetricKind;
use crate::meter::snapshot::{ExponentialBuckets, ExponentialPoint, HistogramPoint, MetricPoints, Point, PointValue};

/// The largest number of buckets on one side of zero, from the OpenTelemetry specification.
const MOST_BUCKETS: usize = 160;

/// Removes the labels that a view does not keep, and merges points that then have equal labels. Of gauges, the last value is
/// kept.
pub(crate) fn leave_out(metric: &mut MetricPoints, view: &ViewStream) {
    let mut places = HashMap::new();
    let mut kept: Vec<Point> = Vec::new();
    for mut point in std::mem::take(&mut metric.points) {
        // This label is kept, because it marks the series above the limit and is not a recorded attribute.
        point.labels.retain(|(name, _)| name == "otel.metric.overflow" || view.keeps(name));
        let place = *places.entry(point.series()).or_insert(kept.len());
        match kept.get_mut(place) {
            None => kept.push(point),
            Some(first) if metric.kind == MetricKind::Gauge => first.value = point.value,
            Some(first) => add(&mut first.value, point.value),
        }
    }
    metric.points = kept;
}

fn add(to: &mut PointValue, more: PointValue) {
    match (to, more) {
        (PointValue::U64(to), PointValue::U64(more)) => *to = to.saturating_add(more),
        (PointValue::I64(to), PointValue::I64(more)) => *to = to.saturating_add(more),
        (PointValue::F64(to), PointValue::F64(more)) => *to += more,
        (PointValue::Histogram(to), PointValue::Histogram(more)) if to.bounds == more.bounds => histogram(to, more),
        (PointValue::Exponential(to), PointValue::Exponential(more)) => exponential(to, more),
        // Not reached, because all points of a metric have the same type.
        (to, more) => *to = more,
    }
}

fn histogram(to: &mut HistogramPoint, more: HistogramPoint) {
    (to.min, to.max) = extremes((to.count, to.min, to.max), (more.count, more.min, more.max));
    to.count += more.count;
    to.sum += more.sum;
    to.counts.iter_mut().zip(more.counts).for_each(|(to, more)| *to += more);
    to.exemplars.extend(more.exemplars);
}

pub(super) fn exponential(to: &mut ExponentialPoint, mut more: ExponentialPoint) {
    (to.min, to.max) = extremes((to.count, to.min, to.max), (more.count, more.min, more.max));
    to.count += more.count;
    to.sum += more.sum;
    to.zero_count += more.zero_count;
    to.zero_threshold = to.zero_threshold.max(more.zero_threshold);
    to.exemplars.append(&mut more.exemplars);
    let mut scale = to.scale.min(more.scale);
    let mut sides = [
        Side { offset: to.offset, counts: std::mem::take(&mut to.counts) }.coarser(to.scale - scale),
        Side::of(to.negative.take()).coarser(to.scale - scale),
    ];
    let others = [Side { offset: more.offset, counts: more.counts }, Side::of(more.negative.take())];
    for (side, other) in sides.iter_mut().zip(others) {
        side.add(other.coarser(more.scale - scale));
    }
    while sides.iter().any(|side| side.counts.len() > MOST_BUCKETS) {
        sides = sides.map(|side| side.coarser(1));
        scale -= 1;
    }
    let [positive, negative] = sides;
    (to.scale, to.offset, to.counts) = (scale, positive.offset, positive.counts);
    let Side { offset, counts } = negative;
    to.negative = (!counts.is_empty()).then_some(ExponentialBuckets { offset, counts });
}

/// Combines the minimum and the maximum of two points. The result is `None` if one of the two is unknown. A point with the
/// count 0 is ignored.
fn extremes(
    (count, min, max): (u64, Option<f64>, Option<f64>),
    (more, other_min, other_max): (u64, Option<f64>, Option<f64>),
) -> (Option<f64>, Option<f64>) {
    match (count, more) {
        (_, 0) => (min, max),
        (0, _) => (other_min, other_max),
        _ => (
            min.zip(other_min).map(|(one, other)| one.min(other)),
            max.zip(other_max).map(|(one, other)| one.max(other)),
        ),
    }
}

/// The buckets on one side of zero.
struct Side {
    offset: i32,
    counts: Vec<u64>,
}

impl Side {
    fn of(buckets: Option<ExponentialBuckets>) -> Self {
        let ExponentialBuckets { offset, counts } = buckets.unwrap_or_default();
        Side { offset, counts }
    }

    /// Lowers the scale by this many steps. Each step joins pairs of neighbouring buckets.
    fn coarser(self, by: i32) -> Self {
        if by <= 0 || self.counts.is_empty() {
            return self;
        }
        let wide = |place: usize| (i64::from(self.offset) + place as i64) >> by.min(63);
        let (first, last) = (wide(0), wide(self.counts.len() - 1));
        let mut counts = vec![0; (last - first + 1) as usize];
        for (place, count) in self.counts.iter().enumerate() {
            counts[(wide(place) - first) as usize] += count;
        }
        Side { offset: first as i32, counts }
    }

    fn add(&mut self, other: Side) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() {
            *self = other;
            return;
        }
        let end = |side: &Side| i64::from(side.offset) + side.counts.len() as i64;
        let (first, end) = (self.offset.min(other.offset), end(self).max(end(&other)));
        let mut counts = vec![0; (end - i64::from(first)) as usize];
        for side in [&*self, &other] {
            let start = (i64::from(side.offset) - i64::from(first)) as usize;
            counts[start..].iter_mut().zip(&side.counts).for_each(|(to, more)| *to += more);
        }
        *self = Side { offset: first, counts };
    }
}
