//! Metrics, at their lowest level: switch them on, read them, switch some of them off.
//!
//! This is what exporters are built on, and what a program uses that wants its metrics in memory and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::amount::Amount;
use crate::catalogue::{Conflict, catalogue};
use crate::cells::{self, Last, Metric, Sum, Table, Total};
use crate::clock::{self, Converter};
use crate::metric::{MetricKind, NumberType};
use crate::observe;
use crate::snapshot::{ExemplarPoint, MetricPoints, Point, PointValue, Snapshot, Temporality, distribution};
use crate::{fork, registry, switch};

/// Which metrics are kept, and how they are read.
#[derive(Clone, Debug)]
pub struct MeteringConfig {
    /// Names of metrics that are switched off; `*` at the end of one stands for anything.
    pub off: Vec<String>,
    /// How long a snapshot waits for the callbacks of observable gauges. What has not answered by then is a gap.
    pub patience: Duration,
}

impl Default for MeteringConfig {
    fn default() -> Self {
        MeteringConfig { off: Vec::new(), patience: Duration::from_secs(1) }
    }
}

/// Metrics are on for as long as this lives. There is one at a time.
#[must_use = "metrics are switched off when it is dropped"]
#[derive(Debug)]
pub struct Metering {
    patience: Duration,
    start_unix_nanos: u64,
    run: u64,
}

/// Why metrics cannot be switched on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MeteringError {
    /// They are on already.
    AlreadyMetering,
    /// Some metrics are declared twice, with different shapes.
    Conflicts(Vec<Conflict>),
}

impl fmt::Display for MeteringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeteringError::AlreadyMetering => {
                f.write_str("metrics are on already; they are switched on once in a process")
            }
            MeteringError::Conflicts(conflicts) => {
                let texts: Vec<_> = conflicts.iter().map(Conflict::to_string).collect();
                f.write_str(&texts.join("; "))
            }
        }
    }
}

impl std::error::Error for MeteringError {}

/// No metric has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMetric(pub String);

impl fmt::Display for UnknownMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no metric is called `{}`; give a name of the catalogue, or the start of some with `*` behind it",
            self.0
        )
    }
}

impl std::error::Error for UnknownMetric {}

/// Counts the times that metrics were switched on, so that a reader of an earlier time reads nothing of this one.
static RUN: AtomicU64 = AtomicU64::new(0);

impl Metering {
    /// Switches metrics on. All of them start from nothing.
    ///
    /// # Errors
    /// If they are on already, or if a metric is declared twice with different shapes.
    pub fn start(config: MeteringConfig) -> Result<Self, MeteringError> {
        let conflicts = catalogue().conflicts();
        if !conflicts.is_empty() {
            return Err(MeteringError::Conflicts(conflicts));
        }
        if !switch::claim_metering() {
            return Err(MeteringError::AlreadyMetering);
        }
        clock::start();
        fork::watch();
        cells::restart();
        let run = RUN.fetch_add(1, Relaxed) + 1;
        switch::start_metering(config.off);
        Ok(Metering { patience: config.patience, start_unix_nanos: clock::unix_now(), run })
    }

    /// Something that reads all metrics, now and then. Readers do not disturb each other, and go on after the metrics
    /// were switched off, until they are switched on again.
    pub fn reader(&self, temporality: Temporality) -> Reader {
        Reader {
            temporality,
            patience: self.patience,
            start_unix_nanos: self.start_unix_nanos,
            run: self.run,
            epoch: 0,
            last: HashMap::new(),
        }
    }

    /// Switches metrics off or on again, by name, or by the start of their names with `*` behind it.
    ///
    /// # Errors
    /// If there is none of that name. Where metrics are known only once they are used, the switch is kept for then.
    pub fn switch(&self, name: &str, on: bool) -> Result<(), UnknownMetric> {
        if switch::switch_metrics(name, on) { Ok(()) } else { Err(UnknownMetric(name.to_owned())) }
    }
}

impl Drop for Metering {
    fn drop(&mut self) {
        if RUN.load(Relaxed) == self.run {
            switch::stop_metering();
        }
    }
}

/// Reads all metrics: since the beginning, or since it read them the last time.
#[derive(Debug)]
pub struct Reader {
    temporality: Temporality,
    patience: Duration,
    start_unix_nanos: u64,
    run: u64,
    /// The last collection, for exemplars.
    epoch: u64,
    /// What a delta counts from.
    last: HashMap<&'static str, Vec<Option<Held>>>,
}

/// What was read of a series.
#[derive(Clone, Debug)]
enum Held {
    U64(u64),
    F64(f64),
    Total(Total),
}

impl Reader {
    /// All metrics as they are now. Increments made meanwhile are in this one or in the next, never lost.
    pub fn snapshot(&mut self) -> Snapshot {
        let observed = observe::collect(self.patience);
        let converter = clock::converter();
        let epoch = cells::next_epoch();
        let time_unix_nanos = clock::unix_now();
        let mut points: BTreeMap<&'static str, MetricPoints> = BTreeMap::new();
        if RUN.load(Relaxed) == self.run {
            let used: Vec<_> = cells::lock().read.clone();
            for (metric, table) in used {
                let read = self.points(metric, table, &converter, epoch);
                points.insert(metric.meta().name, MetricPoints { meta: metric.meta(), points: read, refused: 0 });
            }
            for observed in observed {
                let value = value_of(observed.value);
                add(&mut points, observed.metric).points.extend(
                    value.map(|value| Point { labels: observed.metric.meta().label_texts(observed.set), value }),
                );
            }
            for metric in registry::metrics().filter(|metric| metric.refused() > 0) {
                add(&mut points, metric).refused += metric.refused();
            }
        }
        self.epoch = epoch;
        let metrics = points.into_values().filter(|metric| !metric.points.is_empty() || metric.refused > 0).collect();
        let start_unix_nanos = self.start_unix_nanos;
        if self.temporality == Temporality::Delta {
            self.start_unix_nanos = time_unix_nanos;
        }
        Snapshot { temporality: self.temporality, start_unix_nanos, time_unix_nanos, metrics }
    }

    fn points(
        &mut self,
        metric: &'static Metric,
        table: &'static Table,
        converter: &Converter,
        epoch: u64,
    ) -> Vec<Point> {
        let meta = metric.meta();
        let point = |set: usize, value: PointValue| Point { labels: meta.label_texts(set), value };
        let held: Vec<Option<Held>> = match (meta.kind, meta.number) {
            (MetricKind::Gauge, _) => return gauges(metric, table),
            (MetricKind::UpDownCounter, _) => return up_downs(metric, table),
            (MetricKind::Counter, NumberType::F64) => all(metric.sums(table), Held::F64),
            (MetricKind::Counter, _) => all(metric.sums(table), Held::U64),
            (MetricKind::Histogram, NumberType::F64) => all(metric.totals::<f64>(table), Held::Total),
            (MetricKind::Histogram, _) => all(metric.totals::<u64>(table), Held::Total),
        };
        let cumulative = self.temporality == Temporality::Cumulative;
        let last = self.last.get(meta.name);
        let exemplars = table.exemplars.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let taken = |set: usize| {
            let new =
                exemplars.range((set, 0)..(set + 1, 0)).filter(|(_, new)| new.epoch > self.epoch && new.epoch <= epoch);
            new.map(|(_, exemplar)| ExemplarPoint::of(exemplar, converter)).collect()
        };
        let points = held.iter().enumerate().filter_map(|(set, now)| {
            let now = now.clone()?;
            let before = last.and_then(|last| last[set].as_ref()).filter(|_| !cumulative);
            match since(now, before, meta.is_f64())? {
                Held::U64(value) => Some(point(set, PointValue::U64(value))),
                Held::F64(value) => Some(point(set, PointValue::F64(value))),
                Held::Total(total) => Some(point(set, distribution(meta, total, cumulative, taken(set)))),
            }
        });
        let points = points.collect();
        drop(exemplars);
        if !cumulative {
            self.last.insert(meta.name, held);
        }
        points
    }
}

fn add<'a>(points: &'a mut BTreeMap<&'static str, MetricPoints>, metric: &'static Metric) -> &'a mut MetricPoints {
    let meta = metric.meta();
    points.entry(meta.name).or_insert_with(|| MetricPoints { meta, points: Vec::new(), refused: 0 })
}

fn all<T>(read: Vec<Option<T>>, held: impl Fn(T) -> Held) -> Vec<Option<Held>> {
    read.into_iter().map(|value| value.map(&held)).collect()
}

/// What came since `before`; nothing if that is all there is.
fn since(now: Held, before: Option<&Held>, is_f64: bool) -> Option<Held> {
    match (now, before) {
        (now, None) => Some(now),
        (Held::U64(now), Some(Held::U64(before))) => (now != *before).then(|| Held::U64(now.since(*before))),
        (Held::F64(now), Some(Held::F64(before))) => (now != *before).then(|| Held::F64(now.since(*before))),
        (Held::Total(mut now), Some(Held::Total(before))) => {
            let mut any = false;
            for (now, before) in now.counts.iter_mut().zip(&before.counts) {
                *now -= before;
                any |= *now != 0;
            }
            now.sum = match is_f64 {
                true => f64::from_bits(now.sum).since(f64::from_bits(before.sum)).to_bits(),
                false => now.sum.wrapping_sub(before.sum),
            };
            any.then_some(Held::Total(now))
        }
        (now, Some(_)) => Some(now),
    }
}

fn gauges(metric: &'static Metric, table: &Table) -> Vec<Point> {
    let meta = metric.meta();
    let (unset, value): (u64, fn(u64) -> PointValue) = match meta.number {
        NumberType::F64 => (f64::UNSET, |bits| PointValue::F64(f64::from_bits(bits))),
        NumberType::U64 => (u64::UNSET, PointValue::U64),
        NumberType::I64 => (i64::UNSET, |bits| PointValue::I64(bits as i64)),
    };
    let values = metric.last_values(table, unset).into_iter().enumerate();
    values.filter_map(|(set, bits)| Some(Point { labels: meta.label_texts(set), value: value(bits?) })).collect()
}

fn up_downs(metric: &'static Metric, table: &Table) -> Vec<Point> {
    let meta = metric.meta();
    let point = |set: usize, value: PointValue| Point { labels: meta.label_texts(set), value };
    if meta.is_f64() {
        let sums = metric.sums::<f64>(table);
        let pairs = sums.chunks_exact(2).enumerate().filter(|(_, pair)| pair.iter().any(Option::is_some));
        return pairs
            .map(|(set, pair)| point(set, PointValue::F64(pair[0].unwrap_or(0.0) - pair[1].unwrap_or(0.0))))
            .collect();
    }
    let sums = metric.sums::<u64>(table);
    let pairs = sums.chunks_exact(2).enumerate().filter(|(_, pair)| pair.iter().any(Option::is_some));
    let value = |pair: &[Option<u64>]| pair[0].unwrap_or(0) as i64 - pair[1].unwrap_or(0) as i64;
    pairs.map(|(set, pair)| point(set, PointValue::I64(value(pair)))).collect()
}

fn value_of(amount: Amount) -> Option<PointValue> {
    match amount {
        Amount::U64(value) => Some(PointValue::U64(value)),
        Amount::I64(value) => Some(PointValue::I64(value)),
        Amount::F64(value) => Some(PointValue::F64(value)),
        Amount::Gone => None,
    }
}
