//! No library, no driver, the wrong driver: the monitor starts all the same, says why, and looks again.

use tracecast::testing::Snapshot;
use tracecast_nvml::Config;
use tracecast_nvml_fake::{Fake, built_library};

use crate::kit::{self, Bench, Watched, up, value};

/// The value with this reason, or that without one: there is a driver.
fn available<'a>(snapshot: &Snapshot, reason: impl Into<Option<&'a str>>) -> Option<f64> {
    let labels: Vec<_> = reason.into().map(|reason| ("reason", reason)).into_iter().collect();
    value(snapshot, "tc_nvml_available", &labels)
}

#[test]
fn a_library_that_is_absent_is_found_when_it_is_there() {
    let mut watched = Watched::new();
    let fake = Fake::new("").unwrap();
    let path = fake.folder().join("later.so");
    let config = kit::config(&fake).with_library(&path);
    let _monitor = tracecast_nvml::start(config);
    let snapshot = watched.until("it is absent", |now| available(now, "library_absent") == Some(0.0));
    assert_eq!(snapshot.metric("tc_nvml_available").unwrap().points.len(), 1);
    // In its place in one step, so that no half of it is loaded.
    std::fs::copy(built_library().unwrap(), fake.folder().join("copy")).unwrap();
    std::fs::rename(fake.folder().join("copy"), &path).unwrap();
    let snapshot = watched.until("it is found", |now| up(now, "0") == Some(1.0));
    assert_eq!((available(&snapshot, None), available(&snapshot, "library_absent")), (Some(1.0), None));
}

#[track_caller]
fn check(code: u32, reason: &str) {
    let mut bench = Bench::new(&format!("fail.nvmlInit_v2 = {code}"));
    let snapshot = bench.until(reason, |now| available(now, reason) == Some(0.0));
    assert_eq!(up(&snapshot, "0"), None);
    bench.fake.script("").unwrap();
    bench.until("it is well", |now| available(now, None) == Some(1.0) && up(now, "1") == Some(1.0));
}

#[test]
fn a_driver_of_another_version_is_said() {
    check(18, "version_mismatch");
}

#[test]
fn a_driver_that_is_not_loaded_is_said() {
    check(9, "driver_not_loaded");
}

#[test]
fn a_missing_permission_is_said() {
    check(4, "no_permission");
}

#[test]
fn a_driver_that_does_not_come_back_is_said() {
    let mut bench = Bench::new("hang.nvmlInit_v2 = 3600");
    bench.until("it hangs", |now| available(now, "timeout") == Some(0.0));
    bench.fake.script("").unwrap();
    let snapshot = bench.until("both have come back", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    assert_eq!((available(&snapshot, None), available(&snapshot, "timeout")), (Some(1.0), None));
    bench.fake.script("hang.nvmlInit_v2 = 3600; gpu0.power = 9000").unwrap();
    bench.until("GPUs go on while it hangs again", |now| {
        available(now, "timeout") == Some(0.0) && kit::of(now, "tc_gpu_power_watts", "0") == Some(9.0)
    });
}

#[test]
fn a_file_that_is_no_library_is_said() {
    let mut watched = Watched::new();
    let fake = Fake::new("").unwrap();
    let path = fake.folder().join("text.so");
    std::fs::write(&path, "not a library").unwrap();
    let _monitor = tracecast_nvml::start(Config::default().with_interval(kit::INTERVAL).with_library(path));
    watched.until("it is said", |now| available(now, "library_absent") == Some(0.0));
}

#[test]
fn a_library_that_makes_the_wrapper_panic_hurts_nobody() {
    let mut bench = Bench::without(&["nvmlShutdown"], "");
    bench.until("it is said", |now| available(now, "panicked") == Some(0.0));
}

#[test]
fn a_machine_without_gpus_has_a_driver_all_the_same() {
    let mut bench = Bench::new("gpus = 0");
    let snapshot = bench.until("it is there", |now| available(now, None) == Some(1.0));
    assert_eq!(up(&snapshot, "0"), None);
}

#[test]
fn metrics_that_are_switched_on_later_have_it_too() {
    let mut bench = Bench::new("");
    bench.until("it is up", |now| up(now, "0") == Some(1.0));
    bench.watched.restart();
    bench.until("it is said again", |now| available(now, None) == Some(1.0) && up(now, "0") == Some(1.0));
}
