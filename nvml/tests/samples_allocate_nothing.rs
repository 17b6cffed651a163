//! After the first sample, samples of GPUs and of the host allocate nothing. A program of its own: it replaces the allocator.

mod kit;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kit::{Bench, of, value};
use tracecast_nvml::{Config, Names};
use tracecast_nvml_fake::{Driver, Fake};

/// Counts what threads that take samples allocate. The fake is a library of its own and has its own allocator.
struct Counting;

const HOST_SAMPLER: &str = "host-sampler";

static BY_SAMPLERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether this thread is being looked at: that may allocate itself.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

fn is_sampler() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("tracecast-gpu-") || name == HOST_SAMPLER)
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

#[cfg(target_os = "linux")]
mod of_the_host {
    use std::path::Path;

    use tracecast_nvml::__bench::HostReader;
    use tracecast_nvml::HostGroup::*;

    use super::*;

    #[test]
    fn samples_after_the_first() {
        // It is nobody else's turn: the count is one for all threads.
        let _watched = kit::Watched::new();
        std::thread::Builder::new().name(HOST_SAMPLER.to_owned()).spawn(check_hosts).unwrap().join().unwrap();
    }

    fn check_hosts() {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
        for names in [Names::Tracecast, Names::SemanticConventions] {
            for kernel in ["linux-6.8-v2-kubernetes", "linux-5.4-hybrid-docker"] {
                assert_eq!(allocations_of_a_hundred_samples(&recorded.join(kernel), names), 0, "{kernel}, {names:?}");
            }
            let (root, groups) = (Path::new("/"), [Network, Disk, Filesystem, Load, Swap, PerCpu, PageFaults]);
            let reader = HostReader::open(&recorded.join("linux-6.8-v2-kubernetes")).with_groups(root, &groups);
            assert_eq!(allocations_of(reader, names), 0, "groups, {names:?}");
        }
        // Before Linux 6.2 open files have to be listed, which allocates.
        if std::fs::metadata("/proc/self/fd").unwrap().len() > 0 {
            assert_eq!(allocations_of_a_hundred_samples(Path::new("/"), Names::Tracecast), 0);
        }
    }

    fn allocations_of_a_hundred_samples(root: &Path, names: Names) -> u64 {
        allocations_of(HostReader::open(root), names)
    }

    fn allocations_of(mut reader: HostReader, names: Names) -> u64 {
        reader.sample(names);
        reader.sample(names);
        let before = BY_SAMPLERS.load(Relaxed);
        assert!(before > 0, "opening the files allocates");
        (0..100).for_each(|_| reader.sample(names));
        BY_SAMPLERS.load(Relaxed) - before
    }
}
