//! The machine that runs this, this process, and where they end.

use tracecast::testing::Snapshot;
use tracecast_nvml::Config;

use crate::kit::{self, Watched, value};

fn config() -> Config {
    Config::default().with_interval(kit::INTERVAL).with_library("/nonexistent/libnvidia-ml.so.1")
}

fn plain(snapshot: &Snapshot, name: &str) -> Option<f64> {
    value(snapshot, name, &[])
}

#[test]
fn the_machine_and_the_process_are_there_without_a_gpu() {
    let mut watched = Watched::new();
    let monitor = tracecast_nvml::start(config());
    // At least this thread and the monitor's three, which may come after the first sample. Limits are shown after all else
    // of the process.
    let are_many = |now: &Snapshot| plain(now, "tc_process_threads").is_some_and(|threads| threads >= 4.0);
    let snapshot = watched
        .until("the process is known", |now| are_many(now) && plain(now, "tc_process_open_files_limit").is_some());
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total: f64 = meminfo.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert_eq!(plain(&snapshot, "tc_system_memory_size_bytes"), Some(total * 1024.0));
    assert!(plain(&snapshot, "tc_system_memory_available_bytes").unwrap() < total * 1024.0);
    assert!(plain(&snapshot, "tc_system_cpus").unwrap() >= 1.0);
    // At least standard input, output and error.
    assert!(plain(&snapshot, "tc_process_open_files").unwrap() >= 3.0);
    let resident = plain(&snapshot, "tc_process_memory_resident_bytes").unwrap();
    assert!(resident > 0.0 && resident < plain(&snapshot, "tc_process_memory_virtual_bytes").unwrap());
    monitor.shutdown();
    watched.until("all of it is gone", |now| {
        plain(now, "tc_process_memory_resident_bytes").or(plain(now, "tc_system_memory_size_bytes")).is_none()
    });
}

#[test]
fn cpu_time_of_the_process_grows_with_work() {
    let mut watched = Watched::new();
    let _monitor = tracecast_nvml::start(config());
    let user = |now: &Snapshot| value(now, "tc_process_cpu_seconds_total", &[("mode", "user")]);
    watched.until("a tenth of a second", |now| {
        (0..1_000_000_u64).for_each(|number| {
            std::hint::black_box(number);
        });
        user(now).is_some_and(|seconds| seconds >= 0.1)
    });
}

#[test]
fn it_can_be_left_out() {
    let mut watched = Watched::new();
    let _monitor = tracecast_nvml::start(config().with_host(false));
    let snapshot = watched.until("the driver is looked for", |now| {
        value(now, "tc_nvml_available", &[("reason", "library_absent")]) == Some(0.0)
    });
    assert_eq!(plain(&snapshot, "tc_system_cpus"), None);
}
