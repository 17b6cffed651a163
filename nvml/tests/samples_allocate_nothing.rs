//! After its first sample a GPU's thread allocates no more.

mod kit;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kit::{Bench, of, value};
use tracecast_nvml::{Config, Names};
use tracecast_nvml_fake::{Driver, Fake};

/// Counts what threads that ask GPUs allocate. The fake is a library of its own and has its own allocator.
struct Counting;

static BY_SAMPLERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread is being looked at: that may allocate itself.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

fn is_sampler() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("tracecast-gpu-"))
}

// SAFETY: passes everything on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !LOOKING.replace(true) {
            BY_SAMPLERS.fetch_add(u64::from(is_sampler()), Relaxed);
            LOOKING.set(false);
        }
        // SAFETY: the caller's contract is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is ours.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The clock is ours in both styles, so it tells that a sample was taken.
fn samples(bench: &mut Bench, megahertz: std::ops::Range<u32>) {
    for megahertz in megahertz {
        bench.fake.script(&format!("gpu0.clock_sm = {megahertz}; gpu0.mig = 2; gpu1.power = {megahertz}")).unwrap();
        let clock = [("gpu", "0"), ("clock", "sm")];
        let expected = Some(f64::from(megahertz) * 1e6);
        bench.until("a sample was taken", |now| value(now, "tc_gpu_clock_hertz", &clock) == expected);
    }
}

#[track_caller]
fn check(fake: Fake, change: fn(Config) -> Config) {
    let mut bench = Bench::with(fake, change);
    samples(&mut bench, 1000..1003);
    let before = BY_SAMPLERS.load(Relaxed);
    assert!(before > 0, "threads of GPUs allocate while they begin");
    samples(&mut bench, 1003..1013);
    assert_eq!(BY_SAMPLERS.load(Relaxed) - before, 0);
    assert!(of(&bench.watched.snapshot(), "tc_gpu_sample_age_seconds", "0").is_some());
}

#[test]
fn of_a_driver_of_today() {
    check(Fake::new("").unwrap(), |config| config);
}

#[test]
fn with_links_traffic_and_details() {
    check(Fake::new("").unwrap(), |config| config.with_nvlink(true).with_pcie_throughput(true).with_details(true));
}

#[test]
fn under_the_names_of_the_conventions() {
    check(Fake::new("").unwrap(), |config| config.with_names(Names::SemanticConventions));
}

#[test]
fn of_an_old_driver_and_of_one_to_come() {
    check(Fake::of(Driver::Old, "").unwrap(), |config| config.with_details(true));
    check(Fake::of(Driver::Cuda14, "").unwrap(), |config| config.with_details(true));
}
