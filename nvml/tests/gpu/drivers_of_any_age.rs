//! Drivers that have other functions than the one the wrapper was written for.

use tracecast::testing::Snapshot;
use tracecast_nvml_fake::{Driver, Fake};

use crate::kit::{Bench, of, up, value, xids};

const SCRIPT: &str =
    "gpu0.memory_total = 1000; gpu0.memory_used = 600; gpu0.memory_reserved = 10; gpu0.temperature = 61;
    gpu0.throttle = 4; gpu0.processes = 2; gpu1.processes = 0";

fn start(driver: Driver) -> (Bench, Snapshot) {
    let mut bench = Bench::with(Fake::of(driver, SCRIPT).unwrap(), |config| config);
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    (bench, snapshot)
}

fn throttled(now: &Snapshot, reason: &str) -> Option<f64> {
    value(now, "tc_gpu_throttled", &[("gpu", "0"), ("reason", reason)])
}

#[test]
fn an_old_driver_has_memory_processes_and_all_that_never_changed() {
    let (_bench, snapshot) = start(Driver::Old);
    let check = |name, expected| assert_eq!(of(&snapshot, name, "0"), expected, "{name}");
    check("tc_gpu_memory_size_bytes", Some(1000.0));
    // What the driver keeps is part of it, and not known by itself.
    check("tc_gpu_memory_used_bytes", Some(610.0));
    check("tc_gpu_memory_reserved_bytes", None);
    check("tc_gpu_compute_processes", Some(2.0));
    check("tc_gpu_temperature_celsius", Some(61.0));
    assert_eq!(of(&snapshot, "tc_gpu_compute_processes", "1"), Some(0.0));
    assert_eq!((throttled(&snapshot, "power_cap"), throttled(&snapshot, "idle")), (Some(1.0), Some(0.0)));
    assert_eq!(snapshot.metric("tc_nvml_errors_total").map_or(0, |metric| metric.points.len()), 0);
}

#[test]
fn an_old_driver_reports_xids() {
    let (mut bench, _) = start(Driver::Old);
    let number = bench.until_watched(1, "");
    bench.fake.script(&format!("xid = {number}:1:79")).unwrap();
    bench.until("it is counted", |now| xids(now, "1", "79") == Some(1.0));
}

#[test]
fn a_driver_without_deprecated_calls_has_all_values() {
    let (_bench, snapshot) = start(Driver::Cuda14);
    assert_eq!(of(&snapshot, "tc_gpu_temperature_celsius", "0"), Some(61.0));
    assert_eq!((throttled(&snapshot, "power_cap"), throttled(&snapshot, "idle")), (Some(1.0), Some(0.0)));
    assert_eq!(of(&snapshot, "tc_gpu_memory_used_bytes", "0"), Some(600.0));
    assert_eq!(of(&snapshot, "tc_gpu_compute_processes", "0"), Some(2.0));
}

#[test]
fn a_call_that_says_that_it_is_deprecated_is_as_good_as_absent() {
    // `NVML_ERROR_DEPRECATED`, from the function that is still there.
    let mut bench = Bench::new("gpu0.temperature = 61; gpu0.fail.nvmlDeviceGetTemperature = 26");
    bench.until("it is asked in the new way", |now| of(now, "tc_gpu_temperature_celsius", "0") == Some(61.0));
}

#[test]
fn what_no_call_answers_is_a_gap() {
    let functions = ["nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureV", "nvmlDeviceGetMemoryInfo_v2"];
    let mut bench = Bench::without(&functions, "gpu0.fail.nvmlDeviceGetMemoryInfo = 3");
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    assert_eq!(of(&snapshot, "tc_gpu_temperature_celsius", "0"), None);
    assert_eq!(of(&snapshot, "tc_gpu_memory_used_bytes", "0"), None);
    assert!(of(&snapshot, "tc_gpu_memory_used_bytes", "1").is_some());
    assert!(of(&snapshot, "tc_gpu_power_watts", "0").is_some());
}

#[test]
fn instances_have_memory_on_a_driver_that_lacks_the_newer_call() {
    let mut bench = Bench::without(&["nvmlDeviceGetMemoryInfo_v2"], "gpu0.mig = 2; gpu0.memory_total = 1000");
    let size = |now: &Snapshot| value(now, "tc_gpu_instance_memory_size_bytes", &[("gpu", "0"), ("gpu_instance", "1")]);
    bench.until("it has a size", |now| size(now) == Some(500.0));
}
