//! Whatever threads do, each increment is in exactly one snapshot of each reader.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use tracecast::keys::{
    device,
    tensor::{SourceType, source},
};
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, PointValue, Reader, Snapshot, Temporality};

use crate::turn::turn;

tc_metrics! {
    /// Things that were counted.
    static COUNTED: Counter<(source, device)> = "tc_lose_counted_total";
    /// Joules that were counted.
    static ENERGY: Counter<(), f64> = "tc_lose_energy_joules_total";
    /// What is there.
    static LEVEL: UpDownCounter<(source,)> = "tc_lose_level";
    /// Sizes.
    static SIZES: Histogram<(source,), u64> = "tc_lose_sizes_bytes";
    /// Times.
    static TIMES: Histogram = "tc_lose_times_seconds" { exponential };
}

const ROUNDS: u64 = if cfg!(miri) { 20 } else { 30_000 };

fn count_all(thread: u64) {
    for round in 0..ROUNDS {
        let from = if round % 2 == 0 { SourceType::Disk } else { SourceType::Remote };
        COUNTED.add(1_u64, (from, (round % 3) as u32));
        ENERGY.add(0.5, ());
        LEVEL.add(2, (from,));
        LEVEL.add(-1, (from,));
        SIZES.record(thread * 1000 + round % 7, (from,));
        TIMES.record(0.001, ());
    }
}

/// The values of a metric in a snapshot, added up.
fn total(snapshot: &Snapshot, name: &str) -> f64 {
    snapshot.metric(name).map_or(0.0, |metric| metric.points.iter().map(|point| point.value.as_f64()).sum())
}

/// The sums of a histogram in a snapshot, added up.
fn sum(snapshot: &Snapshot, name: &str) -> f64 {
    let of = |value: &PointValue| match value {
        PointValue::Histogram(point) => point.sum,
        PointValue::Exponential(point) => point.sum,
        _ => 0.0,
    };
    snapshot.metric(name).map_or(0.0, |metric| metric.points.iter().map(|point| of(&point.value)).sum())
}

#[derive(Default, Debug, PartialEq)]
struct Seen {
    counted: f64,
    energy: f64,
    sizes: f64,
    sizes_sum: f64,
    times: f64,
}

impl Seen {
    fn add(&mut self, snapshot: &Snapshot) {
        self.counted += total(snapshot, "tc_lose_counted_total");
        self.energy += total(snapshot, "tc_lose_energy_joules_total");
        self.sizes += total(snapshot, "tc_lose_sizes_bytes");
        self.sizes_sum += sum(snapshot, "tc_lose_sizes_bytes");
        self.times += total(snapshot, "tc_lose_times_seconds");
    }
}

fn expected(threads: u64) -> Seen {
    let calls = (threads * ROUNDS) as f64;
    let of_thread = |thread: u64| (0..ROUNDS).map(|round| thread * 1000 + round % 7).sum::<u64>() as f64;
    Seen {
        counted: calls,
        energy: calls * 0.5,
        sizes: calls,
        sizes_sum: (0..threads).map(of_thread).sum(),
        times: calls,
    }
}

#[test]
fn snapshots_under_eight_writing_threads_lose_no_increment() {
    let _turn = turn();
    let threads = if cfg!(miri) { 3 } else { 8 };
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let (mut often, mut rarely) = (metering.reader(Temporality::Delta), metering.reader(Temporality::Delta));
    let mut cumulative = metering.reader(Temporality::Cumulative);
    let (mut by_often, mut by_rarely, mut snapshots) = (Seen::default(), Seen::default(), 0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || count_all(thread))).collect();
        scope.spawn(|| {
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Relaxed);
        });
        let mut last = 0.0;
        while !done.load(Relaxed) {
            by_often.add(&often.snapshot());
            snapshots += 1;
            if snapshots % 7 == 0 {
                by_rarely.add(&rarely.snapshot());
                let now = total(&cumulative.snapshot(), "tc_lose_counted_total");
                assert!(now >= last, "a cumulative sum went from {last} to {now}");
                last = now;
            }
        }
    });
    by_often.add(&often.snapshot());
    by_rarely.add(&rarely.snapshot());
    let mut in_all = Seen::default();
    let all = cumulative.snapshot();
    in_all.add(&all);
    assert_eq!(in_all, expected(threads));
    assert_eq!(by_often, expected(threads), "after {snapshots} snapshots");
    assert_eq!(by_rarely, expected(threads));
    assert_eq!(total(&all, "tc_lose_level"), (threads * ROUNDS) as f64);
    assert!(often.snapshot().metrics.iter().all(|metric| metric.name == "tc_lose_level"), "nothing came since");
}

#[test]
fn more_threads_than_stripes_and_threads_that_end_lose_nothing() {
    let _turn = turn();
    let (waves, at_once, each) = if cfg!(miri) { (2, 3, 2) } else { (5, 90, 300) };
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let barrier = std::sync::Barrier::new(at_once);
    for _ in 0..waves {
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    COUNTED.add(0_u64, (SourceType::Disk, 0_u32));
                    // All of them live at the same time, so that the last ones share stripes.
                    barrier.wait();
                    for _ in 0..each {
                        COUNTED.add(1_u64, (SourceType::Disk, 0_u32));
                        ENERGY.add(0.25, ());
                        SIZES.record(1_u64, (SourceType::Disk,));
                    }
                });
            }
        });
    }
    let all = (waves * at_once * each) as f64;
    let snapshot = reader.snapshot();
    let found = ["tc_lose_counted_total", "tc_lose_energy_joules_total", "tc_lose_sizes_bytes"]
        .map(|name| total(&snapshot, name));
    assert_eq!(found, [all, all * 0.25, all]);
    assert_eq!(sum(&snapshot, "tc_lose_sizes_bytes"), all);
}

/// A value that counts when it is destroyed: in a thread-local that is as late as it gets.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        COUNTED.add(1_u64, (SourceType::Remote, 1_u32));
    }
}

thread_local! {
    static LATE: Late = const { Late };
}

#[test]
fn a_destructor_of_a_thread_that_ends_still_counts() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    for early in [true, false] {
        thread::spawn(move || {
            // The one that is used first is destroyed last, or the other way round.
            if early {
                LATE.with(|_| ());
            }
            COUNTED.add(1_u64, (SourceType::Remote, 1_u32));
            LATE.with(|_| ());
        })
        .join()
        .unwrap();
    }
    let mut reader: Reader = metering.reader(Temporality::Cumulative);
    assert_eq!(total(&reader.snapshot(), "tc_lose_counted_total"), 4.0);
}

#[test]
fn a_level_is_never_below_zero() {
    let _turn = turn();
    let rounds = if cfg!(miri) { 20 } else { 100_000 };
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Delta);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(move || {
                    for _ in 0..rounds {
                        LEVEL.add(1, (SourceType::Disk,));
                        LEVEL.add(-1, (SourceType::Disk,));
                    }
                })
            })
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            let snapshot = reader.snapshot();
            let level = snapshot.value("tc_lose_level", &[("tc.source.type", "disk")]).map_or(0.0, PointValue::as_f64);
            assert!(level >= 0.0, "{level}");
        }
    });
    let snapshot = reader.snapshot();
    let level = snapshot.metric("tc_lose_level").unwrap();
    assert_eq!(level.points[0].value, PointValue::I64(0));
    assert!(
        level.start_unix_nanos.unwrap() < snapshot.start_unix_nanos,
        "a level counts from the beginning, also in a delta"
    );
}

#[test]
fn levels_are_right_at_their_limits() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    for amount in [i64::MAX, -i64::MAX, 5] {
        LEVEL.add(amount, (SourceType::Disk,));
    }
    LEVEL.add(-7, (SourceType::Remote,));
    let text = metering.reader(Temporality::Cumulative).snapshot().to_string();
    assert_eq!(text, "tc_lose_level{tc.source.type=remote} -7\ntc_lose_level{tc.source.type=disk} 5\n");
}
