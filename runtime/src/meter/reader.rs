//! Reads all metrics into snapshots, with values since metrics were switched on or since the reader's last snapshot.

use std::collections::{BTreeMap, HashMap};
use std::sync::PoisonError;
use std::time::Duration;

use crate::declare::amount::Amount;
use crate::declare::cells::{self, Last, Metric, Sum, Table, Total};
use crate::declare::metric::{MetricKind, MetricMeta, NumberType};
use crate::declare::observe::{self, Observed};
use crate::declare::registry;
use crate::meter::snapshot::{ExemplarPoint, MetricPoints, Point, PointValue, Snapshot, Temporality, distribution};
use crate::record::clock::{self, Converter};

/// Reads all metrics into snapshots, with values since metrics were switched on or since its last snapshot.
///
/// ```standalone_crate
/// use tracecast::prelude::*;
/// use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};
///
/// tc_metrics! {
///     /// Bytes read.
///     static BYTES: Counter = "tc_read_bytes_total";
/// }
///
/// let metering = MetricsGuard::start(MetricsConfig::default())?;
/// let mut reader = metering.reader(Temporality::Delta);
/// for bytes in [7_u64, 9] {
///     BYTES.add(bytes, ());
///     assert_eq!(reader.snapshot().value("tc_read_bytes_total", &[]).unwrap().as_f64(), bytes as f64);
/// }
/// # Ok::<(), tracecast::MetricsError>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    temporality: Temporality,
    patience: Duration,
    /// The time at which metrics were switched on, in nanoseconds since 1970.
    run_start: u64,
    /// The time of the last snapshot; before the first one, the time at which metrics were switched on.
    since: u64,
    run: u64,
    /// The state of each metric, by the address of its table.
    known: HashMap<usize, Known>,
}

/// The state that a reader keeps for a metric.
#[derive(Debug, Default)]
struct Known {
    /// The last value of each label set, from which a delta is computed.
    held: Vec<Option<Held>>,
    /// The reading of the clock up to which exemplars were returned.
    told: u64,
}

/// The last value of a series.
#[derive(Clone, Debug)]
enum Held {
    U64(u64),
    F64(f64),
    Total(Box<Total>),
}

/// Metrics by name and by the address of a declaration, because declarations of one name may have different shapes.
type Points = BTreeMap<(&'static str, usize), MetricPoints>;

impl Reader {
    pub(crate) fn new(temporality: Temporality, patience: Duration, start_unix_nanos: u64, run: u64) -> Self {
        let (run_start, since) = (start_unix_nanos, start_unix_nanos);
        Reader { temporality, patience, run_start, since, run, known: HashMap::new() }
    }

    /// Reads all metrics. Concurrent increments are in this snapshot or in the next one, never lost.
    pub fn snapshot(&mut self) -> Snapshot {
        self.snapshot_within(self.patience)
    }

    /// Like `snapshot`, but waits for callbacks at most `patience`, and never longer than configured.
    pub(crate) fn snapshot_within(&mut self, patience: Duration) -> Snapshot {
        let observed = observe::collect(patience.min(self.patience));
        let converter = clock::converter();
        let time_unix_nanos = clock::unix_now();
        cells::next_epoch();
        let used = {
            let used = cells::lock();
            (used.run == self.run).then(|| used.read.clone())
        };
        let points = used.map(|used| self.read(&used, observed, &converter, time_unix_nanos)).unwrap_or_default();
        let metrics = points.into_values().filter(|metric| !metric.points.is_empty() || metric.refused > 0).collect();
        let (_, start_unix_nanos) = self.start_of(MetricKind::Counter);
        self.since = time_unix_nanos;
        Snapshot { start_unix_nanos, time_unix_nanos, metrics }
    }

    fn read(
        &mut self,
        used: &[(&'static Metric, &'static Table)],
        observed: Vec<Observed>,
        converter: &Converter,
        now: u64,
    ) -> Points {
        let mut points = Points::new();
        for (metric, table) in used {
            let (meta, place) = (metric.meta(), std::ptr::from_ref(*metric).addr());
            let mut of_metric = self.empty(meta, now);
            of_metric.points = self.points(metric, table, converter);
            // Declarations of the same name and shape share a table, so this inserts each metric once.
            points.insert((meta.name, place), of_metric);
        }
        for Observed { metric, set, value } in observed {
            let labels = metric.meta().labels_of(set);
            let point = value_of(value).map(|value| Point { labels, value });
            self.of(&mut points, metric, now).points.extend(point);
        }
        for metric in registry::metrics().filter(|metric| metric.refused() > 0) {
            self.of(&mut points, metric, now).refused += metric.refused();
        }
        points
    }

    /// Returns the entry of a metric in `points`, which all declarations of the same name and shape share. Creates it if
    /// there is none.
    fn of<'a>(&self, points: &'a mut Points, metric: &'static Metric, now: u64) -> &'a mut MetricPoints {
        let meta = metric.meta();
        let same = |known: &MetricPoints| known.meta.is_some_and(|known| known.same_shape(meta));
        let at = points.range((meta.name, 0)..=(meta.name, usize::MAX)).find(|(_, known)| same(known));
        let at = at.map_or((meta.name, std::ptr::from_ref(metric).addr()), |(at, _)| *at);
        points.entry(at).or_insert_with(|| self.empty(meta, now))
    }

    /// Creates a metric without points.
    fn empty(&self, meta: &'static MetricMeta, now: u64) -> MetricPoints {
        let (temporality, start) = self.start_of(meta.kind);
        MetricPoints::new(meta, temporality, start, now)
    }

    /// Returns the temporality of metrics of this kind, and the time from which their values count.
    fn start_of(&self, kind: MetricKind) -> (Temporality, u64) {
        match (self.temporality, kind) {
            (Temporality::Delta, MetricKind::Counter | MetricKind::Histogram) => (Temporality::Delta, self.since),
            _ => (Temporality::Cumulative, self.run_start),
        }
    }

    fn points(&mut self, metric: &'static Metric, table: &'static Table, converter: &Converter) -> Vec<Point> {
        let meta = metric.meta();
        let cumulative = self.temporality == Temporality::Cumulative;
        let mut held = match (meta.kind, meta.number) {
            (MetricKind::Gauge, _) => return gauges(metric, table),
            (MetricKind::UpDownCounter, _) => return up_downs(metric, table),
            (MetricKind::Counter, _) if cumulative => return counters(metric, table),
            (MetricKind::Counter, NumberType::F64) => all(metric.sums(table), Held::F64),
            (MetricKind::Counter, _) => all(metric.sums(table), Held::U64),
            (MetricKind::Histogram, NumberType::F64) => all(metric.totals::<f64>(table), boxed),
            (MetricKind::Histogram, _) => all(metric.totals::<u64>(table), boxed),
        };
        let known = self.known.entry(std::ptr::from_ref(table).addr()).or_default();
        let mut exemplars = known.new_exemplars(table, converter);
        let mut points = Vec::new();
        for (set, held) in held.iter_mut().enumerate() {
            let before = known.held.get(set).and_then(Option::as_ref).filter(|_| !cumulative);
            let Some(now) = held.clone().and_then(|now| since(now, before, meta.is_f64())) else {
                // The sum of a histogram may be ahead of its counts. The old state is kept, so that the next delta has both.
                *held = before.cloned();
                continue;
            };
            let value = match now {
                Held::U64(value) => PointValue::U64(value),
                Held::F64(value) => PointValue::F64(value),
                Held::Total(total) => {
                    let exemplars = exemplars.remove(&set).unwrap_or_default();
                    distribution(meta, *total, cumulative, exemplars)
                }
            };
            points.push(Point { labels: meta.labels_of(set), value });
        }
        known.held = held;
        points
    }
}

impl Known {
    /// Returns the exemplars taken since the last call, by label set.
    fn new_exemplars(&mut self, table: &Table, converter: &Converter) -> HashMap<usize, Vec<ExemplarPoint>> {
        let exemplars = table.exemplars.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: HashMap<usize, Vec<ExemplarPoint>> = HashMap::new();
        for ((set, _), exemplar) in exemplars.iter().filter(|(_, exemplar)| exemplar.ticks > self.told) {
            new.entry(*set).or_default().push(ExemplarPoint::of(exemplar, converter));
        }
        // The clock is read under the lock, as it is for each exemplar, so a later exemplar has a later reading.
        self.told = clock::now();
        new
    }
}

/// Boxes a total, so that the state of a counter stays small.
fn boxed(total: Total) -> Held {
    Held::Total(Box::new(total))
}

fn all<T>(read: Vec<Option<T>>, held: impl Fn(T) -> Held) -> Vec<Option<Held>> {
    read.into_iter().map(|value| value.map(&held)).collect()
}

/// Returns the change since `before`, or all of `now` without a previous value. `None` if a counter did not change, or if a
/// histogram has no new values.
fn since(now: Held, before: Option<&Held>, is_f64: bool) -> Option<Held> {
    match (now, before) {
        (Held::Total(now), None) => now.counts.iter().any(|count| *count != 0).then_some(Held::Total(now)),
        (now, None) => Some(now),
        (Held::U64(now), Some(Held::U64(before))) => (now != *before).then(|| Held::U64(now.since(*before))),
        (Held::F64(now), Some(Held::F64(before))) => (now != *before).then(|| Held::F64(now.since(*before))),
        (Held::Total(mut now), Some(Held::Total(before))) => {
            for (now, before) in now.counts.iter_mut().zip(&before.counts) {
                *now = now.saturating_sub(*before);
            }
            now.sum = match is_f64 {
                true => f64::from_bits(now.sum).since(f64::from_bits(before.sum)).to_bits(),
                false => now.sum.wrapping_sub(before.sum),
            };
            now.counts.iter().any(|count| *count != 0).then_some(Held::Total(now))
        }
        (now, Some(_)) => Some(now),
    }
}

/// Reads cumulative counters, which need no state.
fn counters(metric: &'static Metric, table: &Table) -> Vec<Point> {
    let meta = metric.meta();
    if meta.is_f64() {
        numbers(meta, &touched(metric.sums(table)), PointValue::F64)
    } else {
        numbers(meta, &touched(metric.sums(table)), PointValue::U64)
    }
}

fn touched<T>(sums: Vec<Option<T>>) -> Vec<(usize, T)> {
    sums.into_iter().enumerate().filter_map(|(set, sum)| Some((set, sum?))).collect()
}

fn gauges(metric: &'static Metric, table: &Table) -> Vec<Point> {
    let meta = metric.meta();
    match meta.number {
        NumberType::F64 => {
            numbers(meta, &metric.last_values(table, f64::UNSET), |bits| PointValue::F64(f64::from_bits(bits)))
        }
        NumberType::U64 => numbers(meta, &metric.last_values(table, u64::UNSET), PointValue::U64),
        NumberType::I64 => numbers(meta, &metric.last_values(table, i64::UNSET), |bits| PointValue::I64(bits as i64)),
    }
}

/// Creates the points of plain numbers. Points are large, so each type of number has its own loop, which writes them in place
/// into a vector of their final length.
fn numbers<T: Copy>(meta: &MetricMeta, values: &[(usize, T)], value: impl Fn(T) -> PointValue) -> Vec<Point> {
    let point = |(set, number): &(usize, T)| Point { labels: meta.labels_of(*set), value: value(*number) };
    values.iter().map(point).collect()
}

fn up_downs(metric: &'static Metric, table: &Table) -> Vec<Point> {
    let meta = metric.meta();
    let values: Vec<Option<PointValue>> = if meta.is_f64() {
        let difference = |(up, down): (f64, f64)| PointValue::F64(up - down);
        metric.movements(table).into_iter().map(|pair| pair.map(difference)).collect()
    } else {
        // Sums have 63 bits: the difference is computed in 63 bits and then sign-extended.
        let difference = |(up, down): (u64, u64)| PointValue::I64((up.wrapping_sub(down) << 1) as i64 >> 1);
        metric.movements(table).into_iter().map(|pair| pair.map(difference)).collect()
    };
    let point = |(set, value): (usize, Option<PointValue>)| Some(Point { value: value?, labels: meta.labels_of(set) });
    values.into_iter().enumerate().filter_map(point).collect()
}

fn value_of(amount: Amount) -> Option<PointValue> {
    match amount {
        Amount::U64(value) => Some(PointValue::U64(value)),
        Amount::I64(value) => Some(PointValue::I64(value)),
        Amount::F64(value) => Some(PointValue::F64(value)),
        Amount::Gone => None,
    }
}
