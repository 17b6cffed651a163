//! Gauges that are read by callbacks: gaps, panics, hangs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tracecast::keys::device;
use tracecast::prelude::*;
use tracecast::testing::{MetricsConfig, MetricsGuard, Temporality};

use crate::turn::turn;

tc_metrics! {
    /// Bytes that are free.
    static FREE: ObservableGauge<(device,), u64> = "tc_free_bytes";
    /// Watts.
    static POWER: ObservableGauge = "tc_power_watts";
}

#[test]
fn callbacks_are_called_at_each_snapshot() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let level = Arc::new(AtomicU64::new(100));
    let shared = level.clone();
    let first = FREE.observe((0_u32,), move || Some(shared.fetch_add(1, Relaxed)));
    let gap = FREE.observe((1_u32,), || None);
    assert_eq!(reader.snapshot().to_string(), "tc_free_bytes{tc.device.id=0} 100\n");
    assert_eq!(reader.snapshot().to_string(), "tc_free_bytes{tc.device.id=0} 101\n");
    let newer = FREE.observe((0_u32,), || Some(7));
    assert_eq!(reader.snapshot().to_string(), "tc_free_bytes{tc.device.id=0} 7\n");
    drop(newer);
    assert_eq!(level.load(Relaxed), 103);
    drop(first);
    assert_eq!(reader.snapshot().to_string(), "");
    drop(gap);
}

#[test]
fn one_that_panics_or_gives_no_number_leaves_a_gap() {
    let _turn = turn();
    let patience = Duration::from_secs(60);
    let metering = MetricsGuard::start(MetricsConfig::default().with_patience(patience)).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let _panics = FREE.observe((0_u32,), || panic!("on purpose"));
    let _nan = POWER.observe((), || Some(f64::NAN));
    let _fine = FREE.observe((1_u32,), || Some(2));
    let snapshot = reader.snapshot();
    assert_eq!(snapshot.to_string(), "tc_free_bytes{tc.device.id=1} 2\n");
    assert!(snapshot.metric("tc_power_watts").unwrap().refused > 0);
    assert_eq!(reader.snapshot().to_string(), "tc_free_bytes{tc.device.id=1} 2\n");
}

#[test]
fn one_that_hangs_is_left_behind_and_asked_again_when_it_is_back() {
    let _turn = turn();
    let patience = Duration::from_secs(2);
    let metering = MetricsGuard::start(MetricsConfig::default().with_patience(patience)).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let (release, released) = mpsc::channel::<()>();
    let (released, calls) = (Mutex::new(released), Arc::new(AtomicU64::new(0)));
    let counted = calls.clone();
    let _hangs = FREE.observe((0_u32,), move || {
        // Hangs until the sender is gone.
        let _ = released.lock().unwrap().recv();
        Some(counted.fetch_add(1, Relaxed))
    });
    let _fine = POWER.observe((), || Some(2.5));
    // The first snapshot waits for the one that hangs, and has the other; later ones pass it by.
    assert_eq!(reader.snapshot().to_string(), "tc_power_watts 2.5\n");
    assert_eq!(reader.snapshot().to_string(), "tc_power_watts 2.5\n");
    drop(release);
    // Once it has come back it is asked again.
    while reader.snapshot().to_string().lines().count() < 2 {}
    assert!(calls.load(Relaxed) >= 2);
}

#[test]
fn nothing_is_asked_while_it_is_off() {
    let _turn = turn();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let _observed = FREE.observe((0_u32,), move || Some(counted.fetch_add(1, Relaxed)));
    let metering = MetricsGuard::start(MetricsConfig::default().with_off(["tc_free_bytes"]));
    let metering = metering.unwrap();
    assert_eq!(metering.reader(Temporality::Cumulative).snapshot().to_string(), "");
    assert_eq!(calls.load(Relaxed), 0);
}

// Interpreted, everything is slow.
#[cfg(not(miri))]
#[test]
fn slow_ones_do_not_hold_up_the_others() {
    let _turn = turn();
    let patience = Duration::from_secs(2);
    let metering = MetricsGuard::start(MetricsConfig::default().with_patience(patience)).unwrap();
    let mut reader = metering.reader(Temporality::Cumulative);
    let slow = |device: u32| {
        FREE.observe((device,), move || {
            std::thread::sleep(patience * 2);
            Some(1)
        })
    };
    let _slow: Vec<_> = (0..5).map(slow).collect();
    let _fast = POWER.observe((), || Some(2.5));
    for _ in 0..3 {
        assert!(reader.snapshot().value("tc_power_watts", &[]).is_some());
    }
}

#[test]
fn patience_may_be_without_limit() {
    let _turn = turn();
    let config = MetricsConfig::default().with_patience(Duration::MAX);
    let metering = MetricsGuard::start(config).unwrap();
    let _observed = POWER.observe((), || Some(1.0));
    assert_eq!(metering.reader(Temporality::Cumulative).snapshot().to_string(), "tc_power_watts 1\n");
}

mod elsewhere {
    use super::*;

    tc_metrics! {
        /// Watts, declared again.
        pub(crate) static POWER: ObservableGauge = "tc_power_watts";
    }
}

#[test]
fn of_two_declarations_the_newer_callback_counts() {
    let _turn = turn();
    let metering = MetricsGuard::start(MetricsConfig::default()).unwrap();
    let _first = POWER.observe((), || Some(1.0));
    let _second = elsewhere::POWER.observe((), || Some(2.0));
    assert_eq!(metering.reader(Temporality::Cumulative).snapshot().to_string(), "tc_power_watts 2\n");
}
