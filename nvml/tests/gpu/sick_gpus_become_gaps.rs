//! GPUs that are lost, hang, come back; a driver that is loaded again.

use std::time::{Duration, Instant};

use crate::kit::{self, Bench, of, up, value};

#[test]
fn a_lost_gpu_is_a_gap_until_it_is_back() {
    let mut bench = Bench::new("");
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpu1.fail = 15; gpu0.power = 77000").unwrap();
    let snapshot = bench.until("one is lost, the other goes on", |now| {
        up(now, "1") == Some(0.0) && of(now, "tc_gpu_power_watts", "0") == Some(77.0)
    });
    assert_eq!(of(&snapshot, "tc_gpu_power_watts", "1"), None);
    assert_eq!(of(&snapshot, "tc_gpu_temperature_celsius", "1"), None);
    assert!(value(&snapshot, "tc_nvml_errors_total", &[("error", "gpu_lost")]).is_some_and(|count| count > 0.0));
    bench.fake.script("gpu1.power = 88000").unwrap();
    bench.until("it is back", |now| up(now, "1") == Some(1.0) && of(now, "tc_gpu_power_watts", "1") == Some(88.0));
}

#[test]
fn a_gpu_that_answers_nothing_but_errors_is_down() {
    let mut bench = Bench::new("");
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpu0.fail = 999").unwrap();
    let snapshot = bench.until("it is down", |now| up(now, "0") == Some(0.0));
    assert_eq!((of(&snapshot, "tc_gpu_power_watts", "0"), up(&snapshot, "1")), (None, Some(1.0)));
    bench.fake.script("gpu0.power = 44000").unwrap();
    bench.until("it is back", |now| up(now, "0") == Some(1.0) && of(now, "tc_gpu_power_watts", "0") == Some(44.0));
}

#[test]
fn a_gpu_that_cannot_answer_anything_is_up() {
    let mut bench = Bench::new("");
    bench.until("it is up", |now| up(now, "0") == Some(1.0) && of(now, "tc_gpu_power_watts", "0").is_some());
    bench.fake.script("gpu0.fail = 3").unwrap();
    bench.until("it has no values", |now| of(now, "tc_gpu_power_watts", "0").is_none());
    let snapshot = bench.until("it is up all the same", |now| up(now, "0") == Some(1.0));
    assert_eq!(value(&snapshot, "tc_nvml_errors_total", &[("error", "not_supported")]), None);
}

#[test]
fn an_unplugged_gpu_is_down_and_one_that_is_plugged_in_is_found() {
    let mut bench = Bench::new("gpus = 2");
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpus = 1").unwrap();
    let snapshot = bench.until("it is down", |now| up(now, "1") == Some(0.0) && up(now, "0") == Some(1.0));
    assert_eq!(of(&snapshot, "tc_gpu_power_watts", "1"), None);
    bench.until("nothing is said of who it was", |now| {
        let points = |name| now.metric(name).map_or(0, |metric| metric.points.len());
        ["tc_gpu_info", "tc_nvml_sample_duration_seconds"].map(points) == [1; 2]
    });
    bench.fake.script("gpus = 3").unwrap();
    bench.until("both are found", |now| up(now, "1") == Some(1.0) && up(now, "2") == Some(1.0));
}

#[test]
fn a_call_that_hangs_holds_up_its_own_gpu_only() {
    let mut bench = Bench::new("");
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpu1.hang = 3600; gpu0.power = 11000").unwrap();
    let snapshot = bench.until("it is seen to hang", |now| {
        up(now, "1") == Some(0.0) && of(now, "tc_nvml_call_stuck_seconds", "1").is_some_and(|stuck| stuck > 0.0)
    });
    assert_eq!(of(&snapshot, "tc_gpu_power_watts", "1"), None);
    bench.until("the other goes on", |now| of(now, "tc_gpu_power_watts", "0") == Some(11.0));
    bench.fake.script("gpu1.hang = 3600; gpu0.power = 22000").unwrap();
    bench.until("and on", |now| of(now, "tc_gpu_power_watts", "0") == Some(22.0) && up(now, "1") == Some(0.0));
    bench.fake.script("gpu1.power = 33000").unwrap();
    bench.until("it has come back", |now| {
        up(now, "1") == Some(1.0)
            && of(now, "tc_gpu_power_watts", "1") == Some(33.0)
            && of(now, "tc_nvml_call_stuck_seconds", "1") == Some(0.0)
    });
    let lines = kit::logged("GPU 1 ");
    let [begin, end] = &lines[..] else { panic!("one line at the begin and one at the end: {lines:?}") };
    assert!(begin.starts_with("GPU 1 hangs: a driver call has not returned for 300ms"), "{begin}");
    assert!(end.starts_with("GPU 1 answers again: the driver call returned after "), "{end}");
}

#[test]
fn the_end_does_not_wait_for_a_call_that_hangs_and_shows_nothing_that_it_brings() {
    let mut bench = Bench::new("");
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpu0.hang = 3600; gpu1.hang = 3600").unwrap();
    bench.until("it hangs", |now| of(now, "tc_nvml_call_stuck_seconds", "1").is_some_and(|stuck| stuck > 0.0));
    let start = Instant::now();
    bench.monitor.take().unwrap().shutdown();
    let took = start.elapsed();
    println!("shutdown with two calls that hang: {took:?}");
    // It waits for 50 ms by design; the call would take an hour.
    assert!(took < Duration::from_secs(10));
    let gauges = |now: &tracecast::testing::Snapshot| {
        let gauge =
            |metric: &&tracecast::testing::MetricPoints| matches!(metric.kind, tracecast::catalogue::MetricKind::Gauge);
        now.metrics.iter().filter(gauge).map(|metric| metric.points.len()).sum::<usize>()
    };
    assert_eq!(gauges(&bench.watched.snapshot()), 0);
    bench.fake.script("").unwrap();
    // The calls come back, and their threads end, with nothing shown on the way.
    let start = Instant::now();
    while monitors_have_threads() {
        assert_eq!(gauges(&bench.watched.snapshot()), 0);
        assert!(start.elapsed() < kit::LONGEST, "a thread is left");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(gauges(&bench.watched.snapshot()), 0);
}

/// Whether a thread of a monitor that asks a GPU, or waits for its XIDs, is still there; only Linux tells.
fn monitors_have_threads() -> bool {
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    let of_gpu = |name: String| name.starts_with("tracecast-gpu-") || name.starts_with("tracecast-xid-");
    std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(name).any(of_gpu)
}

#[test]
fn counters_grow_over_a_driver_that_is_loaded_again() {
    let mut bench = Bench::new("gpu0.energy = 5000; gpu0.ecc_corrected = 10; gpu0.replays = 4");
    let joules = |now: &_| of(now, "tc_gpu_energy_joules_total", "0");
    bench.until("it counts from here", |now| joules(now) == Some(0.0));
    bench.fake.script("gpu0.energy = 9000; gpu0.ecc_corrected = 12; gpu0.replays = 4").unwrap();
    bench.until("it grows", |now| joules(now) == Some(4.0));
    bench.fake.script("generation = 2; gpu0.energy = 1000; gpu0.ecc_corrected = 1; gpu0.replays = 4").unwrap();
    let snapshot = bench.until("it goes on growing", |now| joules(now) == Some(5.0));
    let corrected = [("gpu", "0"), ("severity", "corrected")];
    assert_eq!(value(&snapshot, "tc_gpu_ecc_errors_total", &corrected), Some(3.0));
    assert_eq!(of(&snapshot, "tc_gpu_pcie_replays_total", "0"), Some(0.0));
    assert_eq!(up(&snapshot, "0"), Some(1.0));
}
