//! Time: a counter that is cheap to read, and what turns its readings into wall-clock time.
//!
//! On x86-64 the counter is the TSC, but only where the kernel itself keeps time by it; elsewhere it is the monotonic
//! clock in nanoseconds. Readings become Unix time through samples of counter and clocks taken together: the rate comes
//! from the first sample and the newest one, the offset from the newest. Sampled at each drain, the error stays far
//! below a microsecond, whatever the process's age, and a step of the wall clock is followed.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

const UNKNOWN: u8 = 0;
const TSC: u8 = 1;
const MONOTONIC: u8 = 2;

/// On a bare wasm target std has no clock: asked for the time, it would panic.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);
static ORIGIN: OnceLock<Instant> = OnceLock::new();
static CALIBRATION: Mutex<Option<Calibration>> = Mutex::new(None);

/// The counter.
#[inline(always)]
pub(crate) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if SOURCE.load(Relaxed) == TSC {
        // SAFETY: reading the TSC has no precondition.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    monotonic()
}

/// How many seconds a tick of the counter takes, as bits; the monotonic clock's is a nanosecond.
static SECONDS_PER_TICK: AtomicU64 = AtomicU64::new(1e-9_f64.to_bits());

/// The seconds between two readings of the counter.
#[inline]
pub(crate) fn seconds(ticks: u64) -> f64 {
    ticks as f64 * f64::from_bits(SECONDS_PER_TICK.load(Relaxed))
}

#[cold]
fn monotonic() -> u64 {
    if !HAS_CLOCK {
        return 0;
    }
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Chooses the counter and takes the first sample. Before this the counter is the monotonic clock; the choice is made
/// once, because a span that is open meanwhile holds a reading of the old one.
pub(crate) fn start() {
    let mut calibration = lock();
    if calibration.is_none() {
        SOURCE.store(if kernel_trusts_tsc() { TSC } else { MONOTONIC }, Relaxed);
        let calibration = calibration.insert(Calibration::new(sample()));
        // Durations are counted as they are measured, so the rate has to be known before the first of them.
        calibration.renew();
    }
}

/// Takes a new sample and gives what converts readings from now on.
pub(crate) fn converter() -> Converter {
    let mut calibration = lock();
    let calibration = calibration.get_or_insert_with(|| Calibration::new(sample()));
    calibration.renew();
    calibration.converter()
}

pub(crate) fn lock() -> MutexGuard<'static, Option<Calibration>> {
    CALIBRATION.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kernel_trusts_tsc() -> bool {
    cfg!(all(target_arch = "x86_64", target_os = "linux", not(miri)))
        && std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .is_ok_and(|source| source.trim() == "tsc")
}

/// The counter and both clocks, read at the same moment as nearly as can be.
#[derive(Clone, Copy, Debug)]
struct Sample {
    ticks: u64,
    monotonic_nanos: u64,
    unix_nanos: u64,
}

/// Of a few readings, the one with the least time between the two counter readings around the clocks.
fn sample() -> Sample {
    let read = || {
        let before = now();
        let monotonic_nanos = monotonic();
        let unix_nanos = unix_now();
        let after = now();
        (after.saturating_sub(before), Sample { ticks: before.midpoint(after), monotonic_nanos, unix_nanos })
    };
    let mut best = read();
    for _ in 0..4 {
        let next = read();
        if next.0 < best.0 {
            best = next;
        }
    }
    best.1
}

/// The wall clock, as nanoseconds since 1970.
pub(crate) fn unix_now() -> u64 {
    if !HAS_CLOCK {
        return 0;
    }
    unix_nanos(SystemTime::now())
}

/// A point in time as nanoseconds since 1970; earlier ones are 1970.
pub(crate) fn unix_nanos(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    first: Sample,
    newest: Sample,
}

impl Calibration {
    fn new(sample: Sample) -> Self {
        Calibration { first: sample, newest: sample }
    }

    /// Takes a new sample, and the rate from it.
    fn renew(&mut self) {
        loop {
            self.newest = sample();
            // A rate from a shorter base would carry the jitter of the samples into every timestamp.
            if self.base() >= Duration::from_millis(2) || SOURCE.load(Relaxed) != TSC {
                break;
            }
            std::hint::spin_loop();
        }
        if SOURCE.load(Relaxed) == TSC {
            SECONDS_PER_TICK.store((self.converter().nanos_per_tick * 1e-9).to_bits(), Relaxed);
        }
    }

    fn base(&self) -> Duration {
        Duration::from_nanos(self.newest.monotonic_nanos.saturating_sub(self.first.monotonic_nanos))
    }

    fn converter(&self) -> Converter {
        let ticks = self.newest.ticks.saturating_sub(self.first.ticks);
        let nanos = self.newest.monotonic_nanos.saturating_sub(self.first.monotonic_nanos);
        let nanos_per_tick = if ticks == 0 || nanos == 0 { 1.0 } else { nanos as f64 / ticks as f64 };
        Converter { ticks: self.newest.ticks, unix_nanos: self.newest.unix_nanos, nanos_per_tick }
    }
}

/// Turns readings of the counter into Unix time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Converter {
    ticks: u64,
    unix_nanos: u64,
    nanos_per_tick: f64,
}

impl Converter {
    pub(crate) fn unix_nanos(&self, ticks: u64) -> u64 {
        if ticks >= self.ticks {
            self.unix_nanos.saturating_add(self.nanos(ticks - self.ticks))
        } else {
            self.unix_nanos.saturating_sub(self.nanos(self.ticks - ticks))
        }
    }

    pub(crate) fn nanos(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.nanos_per_tick) as u64
    }

    /// For a counter that counts nanoseconds since 1970.
    #[cfg(all(test, not(loom)))]
    pub(crate) const fn identity() -> Self {
        Converter { ticks: 0, unix_nanos: 0, nanos_per_tick: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of 2.6 GHz beside clocks whose readings are off by up to `jitter` nanoseconds.
    fn at(seconds: f64, jitter: i64) -> Sample {
        let nanos = (seconds * 1e9) as u64;
        Sample {
            ticks: 1_000_000 + (seconds * 2.6e9) as u64,
            monotonic_nanos: nanos.saturating_add_signed(jitter),
            unix_nanos: 1_800_000_000_000_000_000 + nanos,
        }
    }

    fn error_nanos(calibration: Calibration, seconds: f64) -> u64 {
        let truth = at(seconds, 0);
        calibration.converter().unix_nanos(truth.ticks).abs_diff(truth.unix_nanos)
    }

    #[test]
    fn sampled_at_each_drain_the_error_after_60_s_is_far_below_1_ms() {
        // The first drain comes after 10 ms, the samples are off by 200 ns in opposite directions.
        let mut calibration = Calibration::new(at(0.0, 0));
        calibration.newest = at(0.01, 200);
        assert!(error_nanos(calibration, 0.02) < 1_000);
        for second in 1..=60 {
            calibration.newest = at(f64::from(second), if second % 2 == 0 { 200 } else { -200 });
        }
        assert!(error_nanos(calibration, 60.1) < 1_000, "{}", error_nanos(calibration, 60.1));
    }

    #[test]
    fn even_without_a_drain_the_error_after_60_s_is_below_1_ms() {
        let mut calibration = Calibration::new(at(0.0, 0));
        calibration.newest = at(0.1, 200);
        let error = error_nanos(calibration, 60.0);
        assert!(error < 1_000_000, "{error}");
    }

    #[test]
    fn a_long_span_starts_when_it_started() {
        let mut calibration = Calibration::new(at(0.0, 0));
        calibration.newest = at(3_600.0, 200);
        assert!(error_nanos(calibration, 5.0) < 1_000);
    }

    #[test]
    fn a_step_of_the_wall_clock_is_followed() {
        let mut calibration = Calibration::new(at(0.0, 0));
        calibration.newest = at(10.0, 0);
        calibration.newest.unix_nanos += 5_000_000_000;
        let truth = at(10.5, 0);
        let error = calibration.converter().unix_nanos(truth.ticks).abs_diff(truth.unix_nanos + 5_000_000_000);
        assert!(error < 1_000, "{error}");
    }

    #[test]
    fn the_real_counter_agrees_with_the_wall_clock() {
        start();
        let converter = converter();
        let before = unix_now();
        let reading = converter.unix_nanos(now());
        let after = unix_now();
        // The machine may pause us between two lines, but not make the counter leave the interval by a millisecond.
        assert!(reading + 1_000_000 > before && reading < after + 1_000_000, "{before} {reading} {after}");
    }
}
