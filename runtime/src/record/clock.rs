//! The clock: a counter that is cheap to read, and the conversion of its readings to wall-clock time.
//!
//! On Linux the counter is the processor's (the TSC of x86-64, the virtual counter of AArch64), but only while the kernel itself
//! uses it as clock source; elsewhere it is the monotonic clock in nanoseconds. Readings are converted to Unix time with samples
//! of counter and clocks taken together: the rate comes from the first sample and the newest one, the offset from the newest.
//! With a sample at each drain, the error stays below a microsecond and two ticks however long the process runs, and steps of the
//! wall clock are followed.
//!
//! A sample that does not fit the rate shows that the counter jumped: the machine was suspended, or migrated to a host with
//! another frequency. Then a new base begins; earlier bases are kept for readings that were taken before.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

const UNKNOWN: u8 = 0;
const HARDWARE: u8 = 1;
const MONOTONIC: u8 = 2;

/// On a bare wasm target std has no clock; reading the time would panic.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

static SOURCE: AtomicU8 = AtomicU8::new(UNKNOWN);
static ORIGIN: OnceLock<Instant> = OnceLock::new();
static CALIBRATION: Mutex<Option<Calibration>> = Mutex::new(None);

/// Reads the counter.
#[inline(always)]
pub(crate) fn now() -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if SOURCE.load(Relaxed) == HARDWARE {
        return hardware();
    }
    monotonic()
}

/// Reads the processor's counter, which runs at some 3 GHz on x86-64, and at 1 MHz to 1 GHz on AArch64, where two readings may
/// be equal.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn hardware() -> u64 {
    // SAFETY: reading the TSC has no precondition.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn hardware() -> u64 {
    let ticks;
    // SAFETY: the instruction only writes `ticks`. A kernel that uses this counter as clock source lets programs read it: its
    // vDSO reads it too, and where an erratum forbids that, the kernel emulates the reading. `start` checks the kernel first.
    // Without `nomem`, as for `_rdtsc`: the compiler does not move a span's work across its start or end.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// The name of the hardware counter among the kernel's clock sources.
const CLOCK_SOURCE: Option<&str> = if cfg!(any(miri, not(target_os = "linux"))) {
    None
} else if cfg!(target_arch = "x86_64") {
    Some("tsc")
} else if cfg!(target_arch = "aarch64") {
    Some("arch_sys_counter")
} else {
    None
};

/// The seconds per tick of the counter, as the bits of an `f64`. A tick of the monotonic clock is a nanosecond.
static SECONDS_PER_TICK: AtomicU64 = AtomicU64::new(1e-9_f64.to_bits());

/// The reading at which the current base begins; 0 for the first base. Lower readings belong to earlier bases.
static BASE_FROM: AtomicU64 = AtomicU64::new(0);

/// A reading of the spans' clock, which is cheaper to read than `Instant`.
#[derive(Clone, Copy, Debug)]
pub struct Moment(pub(crate) u64);

impl Moment {
    /// Reads the clock.
    #[inline]
    pub fn now() -> Self {
        Moment(now())
    }

    /// Returns the seconds from this reading to a later one.
    #[inline]
    pub fn seconds_to(self, later: Moment) -> f64 {
        seconds(self.0, later.0)
    }
}

/// Returns the seconds between two readings of the counter.
#[inline]
pub(crate) fn seconds(from: u64, to: u64) -> f64 {
    if from < BASE_FROM.load(Relaxed) || to < from {
        return seconds_across_bases(from, to);
    }
    seconds_of(to - from)
}

#[inline]
fn seconds_of(ticks: u64) -> f64 {
    // One instruction converts signed numbers. No counter runs long enough for the sign to matter.
    ticks as i64 as f64 * f64::from_bits(SECONDS_PER_TICK.load(Relaxed))
}

#[cold]
#[inline(never)]
fn seconds_across_bases(from: u64, to: u64) -> f64 {
    // Does not wait for a thread that takes a sample.
    let known = CALIBRATION.try_lock().ok().and_then(|calibration| Some(calibration.as_ref()?.converter()));
    known.map_or_else(|| seconds_of(to.saturating_sub(from)), |converter| converter.nanos(from, to) as f64 * 1e-9)
}

/// Reads the monotonic clock, the counter where the hardware counter is not used or was given up.
#[cold]
fn monotonic() -> u64 {
    // A thread that sees the hardware counter given up also sees the offset.
    fence(Acquire);
    monotonic_nanos().wrapping_add(OFFSET.load(Relaxed))
}

fn monotonic_nanos() -> u64 {
    if !HAS_CLOCK {
        return 0;
    }
    ORIGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The number added to the monotonic clock after the hardware counter was given up, so that readings continue from its last one.
/// The addition wraps: a coarse counter may be behind the monotonic clock.
static OFFSET: AtomicU64 = AtomicU64::new(0);

/// Selects the counter and takes the first sample, unless this was done before. Until then the counter is the monotonic clock.
pub(crate) fn start() {
    let mut calibration = lock();
    if calibration.is_none() {
        SOURCE.store(if kernel_trusts_hardware() == Some(true) { HARDWARE } else { MONOTONIC }, Relaxed);
        let calibration = calibration.insert(Calibration::new(sample()));
        // Durations are converted when they are measured, so the rate must be set before the first one.
        calibration.renew();
    }
}

/// Takes a new sample, and returns a converter that uses it.
pub(crate) fn converter() -> Converter {
    let mut calibration = lock();
    let calibration = calibration.get_or_insert_with(|| Calibration::new(sample()));
    calibration.renew();
    calibration.converter()
}

pub(crate) fn lock() -> MutexGuard<'static, Option<Calibration>> {
    CALIBRATION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the kernel's clock source is the hardware counter; `None` if the kernel does not report it.
fn kernel_trusts_hardware() -> Option<bool> {
    let name = CLOCK_SOURCE?;
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    source.ok().map(|source| source.trim() == name)
}

/// The counter and both clocks, read as nearly at the same moment as possible.
#[derive(Clone, Copy, Debug)]
struct Sample {
    ticks: u64,
    monotonic_nanos: u64,
    unix_nanos: u64,
    /// Ticks that passed during the reading.
    width: u64,
}

fn sample() -> Sample {
    sample_of(now)
}

/// Takes a few samples and returns the one with the fewest ticks between the two counter readings around the clocks.
fn sample_of(counter: fn() -> u64) -> Sample {
    let read = || {
        let before = counter();
        let monotonic_nanos = monotonic_nanos();
        let unix_nanos = unix_now();
        let after = counter();
        Sample { ticks: before.midpoint(after), monotonic_nanos, unix_nanos, width: after.saturating_sub(before) }
    };
    let mut best = read();
    for _ in 0..4 {
        let next = read();
        if next.width < best.width {
            best = next;
        }
    }
    best
}

/// Returns the wall-clock time in nanoseconds since 1970.
pub(crate) fn unix_now() -> u64 {
    if !HAS_CLOCK {
        return 0;
    }
    unix_nanos(SystemTime::now())
}

/// Returns a point in time as nanoseconds since 1970; 0 for times before 1970.
pub(crate) fn unix_nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The maximum deviation of a sample from the rate: a millisecond, plus a share (`TOLERANCE`) of the time since the last sample.
/// Time daemons slew the clock by at most half of this share in most cases; a faster slew begins new bases.
const TOLERANCE_NANOS: f64 = 1e6;
const TOLERANCE: f64 = 1e-3;

/// The number of bases kept before the current one.
const PAST: usize = 4;

/// The interval at which the kernel's clock source is checked again.
const ASK_AGAIN_NANOS: u64 = 10_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    first: Sample,
    newest: Sample,
    /// The first reading of the counter that belongs to the current base.
    from: u64,
    /// Earlier bases, the newest first.
    past: [Option<Base>; PAST],
    /// The number of bases before the current one.
    restarts: u64,
    asked: u64,
}

/// Returns how many times the counter jumped or was given up, so that a new base began.
#[cfg(has_otlp)]
pub(crate) fn restarts() -> u64 {
    lock().as_ref().map_or(0, |calibration| calibration.restarts)
}

impl Calibration {
    fn new(sample: Sample) -> Self {
        Calibration {
            first: sample,
            newest: sample,
            from: sample.ticks,
            past: [None; PAST],
            restarts: 0,
            asked: sample.monotonic_nanos,
        }
    }

    /// Takes a new sample and updates the rate.
    fn renew(&mut self) {
        self.watch_the_kernel();
        loop {
            // Only the hardware counter can jump relative to the monotonic clock.
            match SOURCE.load(Relaxed) {
                HARDWARE => self.add(sample()),
                _ => self.newest = sample(),
            }
            // A rate from a shorter base would add the jitter of the samples to every timestamp.
            if self.base() >= Duration::from_millis(2) || SOURCE.load(Relaxed) != HARDWARE {
                break;
            }
            std::hint::spin_loop();
        }
        if SOURCE.load(Relaxed) == HARDWARE {
            SECONDS_PER_TICK.store((self.nanos_per_tick() * 1e-9).to_bits(), Relaxed);
        }
        if self.past[0].is_some() {
            BASE_FROM.store(self.from, Relaxed);
        }
    }

    /// Adds a sample. A sample that does not fit the rate begins a new base.
    fn add(&mut self, sample: Sample) {
        if self.base() >= Duration::from_millis(2) && !self.fits(&sample) {
            self.begin(sample);
        }
        self.newest = sample;
    }

    fn fits(&self, sample: &Sample) -> bool {
        let real = sample.monotonic_nanos.saturating_sub(self.newest.monotonic_nanos) as f64;
        let counted = (sample.ticks as f64 - self.newest.ticks as f64) * self.nanos_per_tick();
        // A thread may have been preempted in the middle of a sample.
        let width = (sample.width + self.newest.width) as f64 * self.nanos_per_tick();
        (counted - real).abs() <= TOLERANCE_NANOS + real * TOLERANCE + width
    }

    /// Begins a new base with a sample that does not fit the last one.
    ///
    /// The program ran between the two samples only for as long as the monotonic clock counted. So a reading that is further than
    /// that from one sample belongs to the other; a reading within reach of both is uncertain.
    fn begin(&mut self, sample: Sample) {
        let ran = sample.monotonic_nanos.saturating_sub(self.newest.monotonic_nanos) as f64 / self.nanos_per_tick();
        let ran = ran as u64 + 1;
        let (left, entered) = (self.newest.ticks.saturating_add(ran), sample.ticks.saturating_sub(ran));
        let overlap = sample.ticks >= self.newest.ticks && left >= entered;
        let middle = self.newest.ticks.midpoint(sample.ticks);
        let until = if overlap { middle } else { left };
        self.restarts += 1;
        self.past.rotate_right(1);
        self.past[0] = Some(Base {
            from: self.from,
            until,
            uncertain: if overlap { (self.newest.ticks, sample.ticks) } else { CERTAIN },
            line: self.line(),
        });
        self.from = if overlap { middle } else { entered };
        self.first = sample;
    }

    /// Switches to the monotonic clock if the kernel no longer uses the hardware counter as clock source.
    fn watch_the_kernel(&mut self) {
        let now = monotonic_nanos();
        if SOURCE.load(Relaxed) == HARDWARE && now.saturating_sub(self.asked) >= ASK_AGAIN_NANOS {
            self.asked = now;
            if kernel_trusts_hardware() == Some(false) {
                OFFSET.store(self.leave_hardware(sample()), Relaxed);
                SECONDS_PER_TICK.store(1e-9_f64.to_bits(), Relaxed);
                SOURCE.store(MONOTONIC, Release);
            }
        }
    }

    /// Begins a base in which the counter is the monotonic clock plus the returned offset. The counter continues from the
    /// hardware counter's reading in `last`.
    fn leave_hardware(&mut self, last: Sample) -> u64 {
        self.add(last);
        self.begin(last);
        last.ticks.wrapping_sub(last.monotonic_nanos)
    }

    fn base(&self) -> Duration {
        Duration::from_nanos(self.newest.monotonic_nanos.saturating_sub(self.first.monotonic_nanos))
    }

    fn nanos_per_tick(&self) -> f64 {
        let ticks = self.newest.ticks.saturating_sub(self.first.ticks);
        let nanos = self.newest.monotonic_nanos.saturating_sub(self.first.monotonic_nanos);
        if ticks == 0 || nanos == 0 { 1.0 } else { nanos as f64 / ticks as f64 }
    }

    fn line(&self) -> Line {
        Line { ticks: self.newest.ticks, unix_nanos: self.newest.unix_nanos, nanos_per_tick: self.nanos_per_tick() }
    }

    fn converter(&self) -> Converter {
        Converter { from: self.from, line: self.line(), past: self.past }
    }
}

/// Readings of the counter with one linear relation to Unix time.
#[derive(Clone, Copy, Debug)]
struct Base {
    from: u64,
    until: u64,
    /// Readings that may belong to this base or to the next one.
    uncertain: Uncertain,
    line: Line,
}

/// A range of readings, both ends included; empty if the first number is larger than the second.
type Uncertain = (u64, u64);
const CERTAIN: Uncertain = (1, 0);

#[derive(Clone, Copy, Debug)]
struct Line {
    ticks: u64,
    unix_nanos: u64,
    nanos_per_tick: f64,
}

impl Line {
    fn unix_nanos(&self, ticks: u64) -> u64 {
        if ticks >= self.ticks {
            self.unix_nanos.saturating_add(self.nanos(ticks - self.ticks))
        } else {
            self.unix_nanos.saturating_sub(self.nanos(self.ticks - ticks))
        }
    }

    fn nanos(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.nanos_per_tick) as u64
    }
}

/// Converts readings of the counter to Unix time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Converter {
    from: u64,
    line: Line,
    past: [Option<Base>; PAST],
}

impl Converter {
    #[inline]
    pub(crate) fn unix_nanos(&self, ticks: u64) -> u64 {
        self.line_of(ticks).unix_nanos(ticks)
    }

    /// Returns the nanoseconds between two readings.
    #[inline]
    pub(crate) fn nanos(&self, from: u64, to: u64) -> u64 {
        match self.past[0] {
            None => self.line.nanos(to.saturating_sub(from)),
            Some(_) => self.unix_nanos(to).saturating_sub(self.unix_nanos(from)),
        }
    }

    /// Returns whether a reading was taken so close to a jump of the counter that its time may be wrong by the size of the jump.
    #[inline]
    pub(crate) fn is_uncertain(&self, ticks: u64) -> bool {
        self.past[0].is_some() && self.is_in_a_jump(ticks)
    }

    #[cold]
    fn is_in_a_jump(&self, ticks: u64) -> bool {
        let is_current = self.from <= ticks && ticks <= self.line.ticks;
        // A counter that was set back repeats readings of an earlier base.
        let is_of = |base: &Base| base.from <= ticks && ticks < base.until;
        self.past
            .iter()
            .flatten()
            .any(|base| base.uncertain.0 <= ticks && ticks <= base.uncertain.1 || is_current && is_of(base))
    }

    #[inline]
    fn line_of(&self, ticks: u64) -> &Line {
        // A reading between the beginning of the current base and its newest sample needs no search.
        let is_current = self.from <= ticks && ticks <= self.line.ticks;
        if is_current || self.past[0].is_none() { &self.line } else { self.find(ticks) }
    }

    /// Finds the base of a reading outside the samples of the current base. A counter that was reset begins below all earlier
    /// readings, so for a reading more than ten seconds in the future of the current base, earlier bases are searched first.
    #[cold]
    fn find(&self, ticks: u64) -> &Line {
        let ahead = (10e9 / self.line.nanos_per_tick) as u64;
        if self.from <= ticks && ticks <= self.line.ticks.saturating_add(ahead) {
            return &self.line;
        }
        let mut earlier = self.past.iter().flatten();
        let of_base = earlier.clone().find(|base| base.from <= ticks && ticks <= base.until);
        // If the reading is older than all bases, the oldest base is the nearest.
        let oldest = || earlier.next_back().filter(|base| ticks < base.from && ticks < self.from);
        of_base.or_else(oldest).map_or(&self.line, |base| &base.line)
    }

    /// Returns the converter for a counter that counts nanoseconds since 1970.
    #[cfg(all(test, not(loom)))]
    pub(crate) const fn identity() -> Self {
        let line = Line { ticks: 0, unix_nanos: 0, nanos_per_tick: 1.0 };
        Converter { from: 0, line, past: [None; PAST] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks per nanosecond: a TSC, and counters of AArch64 with 1 GHz, 62.5 MHz, 25 MHz and 1 MHz.
    const RATES: [f64; 5] = [2.6, 1.0, 0.062_5, 0.025, 0.001];

    /// Samples a counter of this rate, and clocks whose readings are off by up to `jitter` nanoseconds.
    fn at(rate: f64, seconds: f64, jitter: i64) -> Sample {
        let nanos = (seconds * 1e9) as u64;
        Sample {
            ticks: 1_000_000 + (seconds * 1e9 * rate) as u64,
            monotonic_nanos: nanos.saturating_add_signed(jitter),
            unix_nanos: 1_800_000_000_000_000_000 + nanos,
            width: (100.0 * rate) as u64,
        }
    }

    /// Returns the error of a reading after this many seconds, less the duration of two ticks.
    fn error_nanos(calibration: Calibration, rate: f64, seconds: f64) -> u64 {
        let truth = at(rate, seconds, 0);
        let error = calibration.converter().unix_nanos(truth.ticks).abs_diff(truth.unix_nanos);
        error.saturating_sub((2.0 / rate) as u64)
    }

    #[test]
    fn sampled_at_each_drain_the_error_after_60_s_is_far_below_1_ms() {
        for rate in RATES {
            // The first drain comes after 10 ms, the samples are off by 200 ns in opposite directions.
            let mut calibration = Calibration::new(at(rate, 0.0, 0));
            calibration.add(at(rate, 0.01, 200));
            assert!(error_nanos(calibration, rate, 0.02) < 1_000);
            for second in 1..=60 {
                calibration.add(at(rate, f64::from(second), if second % 2 == 0 { 200 } else { -200 }));
            }
            let error = error_nanos(calibration, rate, 60.1);
            assert!(error < 1_000, "{error} at {rate}");
        }
    }

    #[test]
    fn even_without_a_drain_the_error_after_60_s_is_below_1_ms() {
        for rate in RATES {
            let mut calibration = Calibration::new(at(rate, 0.0, 0));
            calibration.add(at(rate, 0.1, 200));
            let error = error_nanos(calibration, rate, 60.0);
            assert!(error < 1_000_000, "{error} at {rate}");
        }
    }

    #[test]
    fn a_long_span_starts_when_it_started() {
        for rate in RATES {
            let mut calibration = Calibration::new(at(rate, 0.0, 0));
            calibration.add(at(rate, 3_600.0, 200));
            assert!(error_nanos(calibration, rate, 5.0) < 1_000, "{rate}");
        }
    }

    #[test]
    fn a_step_of_the_wall_clock_is_followed() {
        let mut calibration = Calibration::new(at(2.6, 0.0, 0));
        calibration.add(at(2.6, 10.0, 0));
        calibration.newest.unix_nanos += 5_000_000_000;
        let truth = at(2.6, 10.5, 0);
        let error = calibration.converter().unix_nanos(truth.ticks).abs_diff(truth.unix_nanos + 5_000_000_000);
        assert!(error < 1_000, "{error}");
    }

    /// The first rate comes from 2 ms. Samples that are off by a tick and 200 ns there, and a long time without a drain after
    /// them, are not a jump.
    #[test]
    fn a_coarse_counter_that_was_sampled_for_2_ms_begins_no_new_base() {
        for rate in RATES {
            for seconds in [0.2, 0.5, 10.0, 600.0] {
                for (ticks, jitter) in [(0, 200), (2, -200)] {
                    let mut calibration = Calibration::new(at(rate, 0.0, 0));
                    let mut second = at(rate, 0.002, jitter);
                    second.ticks = second.ticks - 1 + ticks;
                    calibration.add(second);
                    calibration.add(at(rate, seconds, 0));
                    assert!(calibration.past[0].is_none() && calibration.restarts == 0, "{seconds} s at {rate}");
                }
            }
        }
    }

    #[test]
    fn readings_that_are_equal_are_no_time_apart() {
        let mut calibration = Calibration::new(at(0.001, 0.0, 0));
        calibration.add(at(0.001, 1.0, 0));
        let ticks = at(0.001, 1.5, 0).ticks;
        assert_eq!(calibration.converter().nanos(ticks, ticks), 0);
        assert_eq!(seconds(ticks, ticks), 0.0);
    }

    /// A machine that runs, is suspended or migrated, and runs on. Each part has its own relation of counter and clocks.
    struct Machine {
        calibration: Calibration,
        now: Sample,
        /// Ticks per nanosecond.
        rate: f64,
    }

    impl Machine {
        fn new(rate: f64) -> Self {
            let now = at(rate, 1_000.0, 0);
            Machine { calibration: Calibration::new(now), now, rate }
        }

        /// Runs for this many milliseconds, sampled every 200 ms, as by drains.
        fn run(&mut self, milliseconds: u64) {
            for _ in 0..milliseconds / 200 {
                self.pass(200);
                self.calibration.add(self.now);
            }
        }

        /// Time passes without a drain.
        fn pass(&mut self, milliseconds: u64) {
            let nanos = milliseconds * 1_000_000;
            self.now.ticks += (nanos as f64 * self.rate) as u64;
            self.now.monotonic_nanos += nanos;
            self.now.unix_nanos += nanos;
        }

        /// Is suspended: the wall clock goes on, the monotonic one stops, and the counter reads `ticks` afterwards.
        fn suspend(&mut self, seconds: u64, ticks: u64) {
            self.now.unix_nanos += seconds * 1_000_000_000;
            self.now.ticks = ticks;
        }

        fn error_nanos(&self, then: Sample) -> u64 {
            self.calibration.converter().unix_nanos(then.ticks).abs_diff(then.unix_nanos)
        }
    }

    /// Runs for a second, is suspended for 8, with 70 ms before and 50 ms after that without a drain, and runs on.
    fn suspended(rate: f64, ticks_after: impl Fn(u64) -> u64) -> (Machine, Vec<Sample>) {
        let mut machine = Machine::new(rate);
        machine.run(1_000);
        let mut spans = vec![machine.now];
        machine.pass(70);
        spans.push(machine.now);
        machine.suspend(8, ticks_after(machine.now.ticks));
        spans.push(machine.now);
        machine.pass(50);
        spans.push(machine.now);
        machine.calibration.add(machine.now);
        machine.run(1_000);
        spans.push(machine.now);
        machine.pass(60);
        spans.push(machine.now);
        (machine, spans)
    }

    fn assert_all_right((machine, readings): (Machine, Vec<Sample>)) {
        let converter = machine.calibration.converter();
        for (at, reading) in readings.iter().enumerate() {
            assert!(machine.error_nanos(*reading) < 10_000, "{at}: {}", machine.error_nanos(*reading));
            assert!(!converter.is_uncertain(reading.ticks), "{at}");
        }
        let (first, last) = (readings[0], readings[readings.len() - 1]);
        let took = converter.nanos(first.ticks, last.ticks);
        assert!(took.abs_diff(last.unix_nanos - first.unix_nanos) < 20_000, "{took}");
    }

    #[test]
    fn a_counter_that_runs_on_while_the_machine_sleeps_is_followed() {
        for rate in RATES {
            assert_all_right(suspended(rate, |ticks| ticks + (8e9 * rate) as u64));
        }
    }

    #[test]
    fn a_counter_that_is_reset_while_the_machine_sleeps_is_followed() {
        for rate in RATES {
            // As if 1.5 s had passed since the reset.
            assert_all_right(suspended(rate, |_| (1.5e9 * rate) as u64));
        }
    }

    #[test]
    fn a_second_stays_a_second_after_several_jumps() {
        for rate in RATES {
            let mut machine = Machine::new(rate);
            machine.run(1_000);
            for jump in 1..20 {
                machine.suspend(jump, machine.now.ticks + (jump as f64 * 1e9 * rate) as u64);
                machine.run(2_000);
                let before = machine.now.ticks;
                machine.run(1_000);
                let took = machine.calibration.converter().nanos(before, machine.now.ticks);
                assert!(took.abs_diff(1_000_000_000) < 10_000, "{took} after jump {jump} at {rate}");
                assert_eq!(machine.calibration.restarts, jump);
            }
        }
    }

    #[test]
    fn after_a_move_to_another_frequency_times_are_right_or_marked() {
        for (before, rate) in [(2.6, 2.1), (2.6, 3.4), (0.025, 0.019_2), (0.025, 0.04)] {
            let mut machine = Machine::new(before);
            machine.run(1_000);
            let mut readings = Vec::new();
            for step in 0..40 {
                if step == 13 {
                    machine.rate = rate;
                }
                machine.pass(20);
                readings.push(machine.now);
                if step % 10 == 9 {
                    machine.calibration.add(machine.now);
                }
            }
            machine.run(1_000);
            let converter = machine.calibration.converter();
            for (step, reading) in readings.iter().enumerate() {
                let error = machine.error_nanos(*reading);
                assert!(error < 100_000 || converter.is_uncertain(reading.ticks), "{step}: {error} at {rate}");
            }
            let marked = readings.iter().filter(|reading| converter.is_uncertain(reading.ticks)).count();
            assert!(marked <= 11, "only those between two samples: {marked}");
        }
    }

    #[test]
    fn a_clock_that_is_slewed_or_sampled_late_begins_no_new_base() {
        for rate in RATES {
            let mut machine = Machine::new(rate);
            machine.run(1_000);
            // 500 ppm, as fast as the kernel slews; and one sample in a hundred that is off by 0.8 ms.
            machine.rate *= 1.0005;
            for step in 0..1_000_u64 {
                machine.pass(200);
                let late = if step % 100 == 0 { (800_000.0 * rate) as u64 } else { 0 };
                machine.calibration.add(Sample { ticks: machine.now.ticks + late, ..machine.now });
            }
            assert!(machine.calibration.past[0].is_none(), "{rate}");
        }
    }

    #[test]
    fn a_kernel_that_gives_the_hardware_counter_up_is_followed() {
        for rate in RATES {
            let mut machine = Machine::new(rate);
            machine.run(1_000);
            let before = machine.now;
            machine.pass(100);
            let offset = machine.calibration.leave_hardware(machine.now);
            // A thread that had not yet seen the change.
            machine.pass(1);
            let late = machine.now;
            machine.rate = 1.0;
            machine.now.ticks = machine.now.monotonic_nanos.wrapping_add(offset);
            assert!(machine.now.ticks > before.ticks, "the counter never goes back");
            machine.pass(500);
            let after = machine.now;
            machine.pass(500);
            machine.calibration.newest = machine.now;
            for (at, reading) in [before, after, machine.now].into_iter().enumerate() {
                assert!(machine.error_nanos(reading) < 10_000, "{at}: {} at {rate}", machine.error_nanos(reading));
            }
            assert!(machine.error_nanos(late) < 2_000_000, "{} at {rate}", machine.error_nanos(late));
            let took = machine.calibration.converter().nanos(before.ticks, machine.now.ticks);
            assert!(took.abs_diff(1_101_000_000) < 20_000, "{took} at {rate}");
        }
    }

    /// Tests the instruction itself, whichever clock source the kernel uses: an emulator shows a program the clock source of its
    /// host.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    #[test]
    fn the_hardware_counter_keeps_time() {
        if cfg!(target_arch = "x86_64") && kernel_trusts_hardware() != Some(true) {
            return;
        }
        let mut calibration = Calibration::new(sample_of(hardware));
        while calibration.base() < Duration::from_millis(2) {
            calibration.add(sample_of(hardware));
        }
        let (started, first) = (Instant::now(), hardware());
        let mut last = first;
        while started.elapsed() < Duration::from_millis(50) {
            let before = unix_now();
            let reading = hardware();
            let after = unix_now();
            assert!(reading >= last, "{last} {reading}");
            last = reading;
            let time = calibration.converter().unix_nanos(reading);
            assert!(time + 1_000_000 > before && time < after + 1_000_000, "{before} {time} {after}");
            calibration.add(sample_of(hardware));
        }
        assert!(calibration.past[0].is_none());
        let ticks = last - first;
        let rate = ticks as f64 / calibration.converter().nanos(first, last) as f64;
        assert!((0.000_9..10.0).contains(&rate), "{rate} ticks a nanosecond");
    }

    #[test]
    fn the_counter_is_that_of_the_kernel_and_agrees_with_the_wall_clock() {
        start();
        assert_eq!(SOURCE.load(Relaxed) == HARDWARE, kernel_trusts_hardware() == Some(true));
        let converter = converter();
        let before = unix_now();
        let reading = converter.unix_nanos(now());
        let after = unix_now();
        // The test may be preempted between two lines, but that does not move the counter out of the interval by a millisecond.
        // An interpreter needs milliseconds for a sample, so each sample that the calibration compares may include a pause.
        let slack = if cfg!(miri) { 100_000_000 } else { 1_000_000 };
        assert!(reading + slack > before && reading < after + slack, "{before} {reading} {after}");
    }
}
