//! GPUs that are well, of several kinds and drivers.

use tracecast::testing::Snapshot;
use tracecast_nvml::Names;
use tracecast_nvml_fake::Fake;

use crate::kit::{self, Bench, of, up, value};

const SCRIPT: &str = "
    gpu0.utilization = 87; gpu0.memory_utilization = 40
    gpu0.memory_total = 1000; gpu0.memory_used = 600; gpu0.memory_reserved = 10
    gpu0.temperature = 61; gpu0.memory_temperature = 70
    gpu0.power = 250500; gpu0.power_limit = 700000
    gpu0.clock_sm = 1980; gpu0.clock_memory = 2619
    gpu0.throttle = 4; gpu0.remapped_pending = 3; gpu0.processes = 2";

#[test]
fn each_value_is_there_in_its_unit() {
    let mut bench = Bench::new(SCRIPT);
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    let check = |name, expected| assert_eq!(of(&snapshot, name, "0"), Some(expected), "{name}");
    check("tc_gpu_utilization_percent", 87.0);
    check("tc_gpu_memory_controller_utilization_percent", 40.0);
    check("tc_gpu_memory_used_bytes", 600.0);
    check("tc_gpu_memory_size_bytes", 1000.0);
    check("tc_gpu_memory_reserved_bytes", 10.0);
    check("tc_gpu_temperature_celsius", 61.0);
    check("tc_gpu_memory_temperature_celsius", 70.0);
    check("tc_gpu_power_watts", 250.5);
    check("tc_gpu_power_limit_watts", 700.0);
    check("tc_gpu_compute_processes", 2.0);
    check("tc_gpu_encoder_utilization_percent", 0.0);
    check("tc_gpu_decoder_utilization_percent", 0.0);
    let check = |name, label, text, expected| {
        assert_eq!(value(&snapshot, name, &[("gpu", "0"), (label, text)]), Some(expected), "{name} {text}");
    };
    check("tc_gpu_clock_hertz", "clock", "sm", 1.98e9);
    check("tc_gpu_clock_hertz", "clock", "memory", 2.619e9);
    check("tc_gpu_throttled", "reason", "power_cap", 1.0);
    check("tc_gpu_throttled", "reason", "hardware_slowdown", 0.0);
    check("tc_gpu_remapped_rows", "kind", "pending", 3.0);
    check("tc_gpu_remapped_rows", "kind", "failure", 0.0);
    check("tc_gpu_ecc_errors_total", "severity", "uncorrected", 0.0);
    check("tc_gpu_temperature_limit_celsius", "limit", "shutdown", 92.0);
    check("tc_gpu_temperature_limit_celsius", "limit", "slowdown", 89.0);
    check("tc_gpu_temperature_limit_celsius", "limit", "memory_maximum", 95.0);
    check("tc_gpu_temperature_limit_celsius", "limit", "gpu_maximum", 87.0);
    for (label, text) in [
        ("uuid", "GPU-00000000-fa4e-4000-8000-000000000000"),
        ("name", "NVIDIA Fake 80GB"),
        ("pci_bus_id", "00000000:01:00.0"),
        ("index", "0"),
        ("driver", "580.95.05"),
        ("serial", "1650000000000"),
    ] {
        assert!(kit::is_described(&snapshot, "0", label, text), "{label}={text} in {snapshot}");
    }
    assert_eq!(value(&snapshot, "tc_nvml_driver_info", &[("driver", "580.95.05")]), Some(1.0));
    assert_eq!(value(&snapshot, "tc_nvml_available", &[]), Some(1.0));
    assert!(of(&snapshot, "tc_nvml_sample_duration_seconds", "0").is_some());
    // What has to be asked for is not there.
    for name in ["tc_gpu_performance_state", "tc_gpu_fan_speed_percent"] {
        assert!(snapshot.metric(name).is_none_or(|metric| metric.points.is_empty()), "{name}");
    }
    bench.until("its age is known", |now| of(now, "tc_gpu_sample_age_seconds", "1").is_some());
}

#[test]
fn what_a_gpu_cannot_do_is_a_gap_and_nothing_else_is() {
    let mut bench = Bench::new("gpu0.fail.nvmlDeviceGetPowerUsage = 3; gpu0.fail.memory_temperature = 3");
    let snapshot = bench.until("it is up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    assert_eq!(of(&snapshot, "tc_gpu_power_watts", "0"), None);
    assert_eq!(of(&snapshot, "tc_gpu_memory_temperature_celsius", "0"), None);
    assert!(of(&snapshot, "tc_gpu_power_limit_watts", "0").is_some());
    assert!(of(&snapshot, "tc_gpu_power_watts", "1").is_some());
    assert_eq!(value(&snapshot, "tc_nvml_errors_total", &[("error", "not_supported")]), None);
}

#[test]
fn mig_has_memory_by_instance_and_no_utilization() {
    // A driver that says 0 does not know it either.
    let mut bench = Bench::new("gpu0.mig = 2; gpu0.utilization = 0; gpu0.memory_total = 1000; gpu0.memory_used = 600");
    let snapshot = bench.until("it is up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    assert_eq!(of(&snapshot, "tc_gpu_utilization_percent", "0"), None);
    assert!(of(&snapshot, "tc_gpu_utilization_percent", "1").is_some());
    let size = |gpu, instance| {
        value(&snapshot, "tc_gpu_instance_memory_size_bytes", &[("gpu", gpu), ("gpu_instance", instance)])
    };
    assert_eq!([size("0", "0"), size("0", "1"), size("0", "2")], [Some(500.0), Some(500.0), None]);
    assert_eq!(size("1", "0"), None);
    // The GPU's own values stay with it, once.
    assert_eq!(of(&snapshot, "tc_gpu_memory_size_bytes", "0"), Some(1000.0));
    assert!(of(&snapshot, "tc_gpu_power_watts", "0").is_some());
    assert_eq!(snapshot.metric("tc_gpu_power_watts").unwrap().points.len(), 2);
}

#[test]
fn an_instance_has_its_uuid_its_profile_and_its_activity() {
    let script = |uuid| {
        format!(
            "gpu0.mig = 2; gpu0.profile = 3g.40gb; gpu0.instance2.uuid = {uuid}; gpu0.active_tensor.1 = 12
            gpu0.active_tensor.2 = 34; gpu1.mig = 1; gpu1.fail.nvmlGpmMigSampleGet = 3"
        )
    };
    let mut bench = Bench::with(Fake::new(&script("MIG-a")).unwrap(), |config| config.with_activity(true));
    let tensor = |now: &Snapshot, gpu, instance| {
        let labels = [("gpu", gpu), ("gpu_instance", instance), ("part", "tensor")];
        value(now, "tc_gpu_instance_activity_percent", &labels)
    };
    let snapshot = bench.until("two samples were compared", |now| tensor(now, "0", "1") == Some(34.0));
    assert_eq!((tensor(&snapshot, "0", "0"), tensor(&snapshot, "1", "0")), (Some(12.0), None));
    assert!(kit::logged("GPU 1 has no activity of parts").len() == 1, "{:?}", kit::logged(""));
    let info = |now: &Snapshot| kit::labels_of(now, "tc_gpu_instance_info", &[("gpu", "0"), ("gpu_instance", "1")]);
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert!(info(&snapshot).contains(&pair("uuid", "MIG-a")) && info(&snapshot).contains(&pair("profile", "3g.40gb")));
    // Another instance in the same place.
    bench.fake.script(&script("MIG-b")).unwrap();
    bench.until("it has another UUID", |now| info(now).contains(&pair("uuid", "MIG-b")));
    bench.fake.script("").unwrap();
    bench.until("it is split no longer", |now| info(now).is_empty() && tensor(now, "0", "1").is_none());
}

#[test]
fn the_memory_of_this_process_is_known_where_the_driver_lists_it() {
    let mut bench =
        Bench::new("gpu0.processes = 3; gpu0.process_memory = 4096; gpu1.processes = 65; gpu1.process_memory = 1");
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    let own = |gpu| (of(&snapshot, "tc_gpu_compute_processes", gpu), of(&snapshot, "tc_gpu_process_memory_bytes", gpu));
    assert_eq!(own("0"), (Some(3.0), Some(4096.0)));
    // More than the list takes: their number is known, and no more.
    assert_eq!(own("1"), (Some(65.0), None));
    let seen = bench.monitor.as_ref().unwrap().gpus()[0].process_memory_bytes;
    assert_eq!(seen, Some(4096));
    bench.fake.script("gpu0.processes = 3").unwrap();
    bench.until("it is not listed", |now| of(now, "tc_gpu_process_memory_bytes", "0").is_none());
}

/// As many as a machine has: sixteen GPUs, each in seven instances, under names of which none is `other`.
#[test]
fn a_hundred_and_twelve_instances_are_told_apart() {
    let split: String = (0..16).map(|gpu| format!("; gpu{gpu}.mig = 7")).collect();
    for names in [Names::Tracecast, Names::SemanticConventions] {
        let fake = Fake::new(&format!("gpus = 16{split}")).unwrap();
        let mut bench = Bench::with(fake, |config| config.with_names(names));
        let points = |now: &Snapshot, name| now.metric(name).map_or(0, |metric| metric.points.len());
        let snapshot = bench.until("all are there", |now| {
            points(now, "tc_gpu_instance_memory_size_bytes") == 112 && points(now, "tc_gpu_info") == 16
        });
        assert_eq!(points(&snapshot, "tc_gpu_instance_memory_used_bytes"), 112);
        let of_gpus = if names == Names::Tracecast { "tc_gpu_memory_used_bytes" } else { "hw.gpu.memory.usage" };
        assert_eq!((points(&snapshot, of_gpus), points(&snapshot, "tc_gpu_instance_info")), (16, 112));
        let text = snapshot.to_string();
        let is_other = |line: &&str| line.contains("=other") && !line.starts_with("tc_gpu_recovery_action");
        assert_eq!(text.lines().find(is_other), None);
    }
}

#[test]
fn sixteen_gpus_are_all_up() {
    let mut bench = Bench::new("gpus = 16");
    bench.until("all are up", |now| (0..16).all(|gpu| up(now, &gpu.to_string()) == Some(1.0)));
}

#[test]
fn a_second_monitor_does_nothing_and_leaves_the_first_alone() {
    let mut bench = Bench::new("");
    bench.until("it is up", |now| up(now, "0") == Some(1.0));
    let second = tracecast_nvml::start(kit::config(&bench.fake));
    assert_eq!(format!("{second:?} {:?}", bench.monitor), "Monitor { running: false } Some(Monitor { running: true })");
    drop(second);
    bench.fake.script("gpu0.power = 123000").unwrap();
    bench.until("it goes on", |now| of(now, "tc_gpu_power_watts", "0") == Some(123.0));
}

#[test]
fn the_library_is_found_by_its_installed_name() {
    const CHILD: &str = "TC_TEST_INSTALLED_NAME";
    if std::env::var_os(CHILD).is_some() {
        let mut watched = kit::Watched::new();
        let _monitor = tracecast_nvml::start(tracecast_nvml::Config::default().with_interval(kit::INTERVAL));
        watched.until("it is up", |now| of(now, "tc_gpu_power_watts", "2") == Some(55.0));
        return;
    }
    let fake = Fake::new("gpus = 3; gpu2.power = 55000").unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "gpus_are_looked_after::the_library_is_found_by_its_installed_name"])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", fake.folder())
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env_remove("NVIDIA_VISIBLE_DEVICES")
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

#[test]
fn only_the_wanted_gpus_are_looked_after() {
    let fake = Fake::new("gpus = 4").unwrap();
    let mut bench = Bench::with(fake, |config| config.with_devices(["1", "GPU-00000003"]));
    bench.until("two are up", |now| up(now, "1") == Some(1.0) && up(now, "3") == Some(1.0));
    // Others have been asked for their identifiers by now, or will be; they are never shown.
    let only_two = |now: &Snapshot| up(now, "0").is_none() && up(now, "2").is_none();
    assert!(bench.through_samples_of(1, "gpus = 4", only_two));
}

#[test]
fn a_gpu_that_sleeps_is_not_asked() {
    let (mut bench, status) = Bench::that_can_sleep(1, "gpu1.power = 1000");
    bench.until("it is awake", |now| {
        of(now, "tc_gpu_power_watts", "1") == Some(1.0) && of(now, "tc_gpu_asleep", "1") == Some(0.0)
    });
    status("suspended\n");
    let snapshot = bench.until("it sleeps", |now| of(now, "tc_gpu_asleep", "1") == Some(1.0));
    assert_eq!(of(&snapshot, "tc_gpu_power_watts", "1"), None);
    // A call would hang now, and be seen.
    let well = |now: &Snapshot| {
        up(now, "1") == Some(1.0) && of(now, "tc_nvml_call_stuck_seconds", "1").is_none_or(|stuck| stuck == 0.0)
    };
    assert!(bench.through_samples_of(0, "gpu1.hang = 3600", well));
    status("active\n");
    bench.until("it hangs as it wakes", |now| up(now, "1") == Some(0.0));
    bench.fake.script("gpu1.power = 2000").unwrap();
    bench.until("it is awake again", |now| of(now, "tc_gpu_power_watts", "1") == Some(2.0));
}

#[test]
fn gpus_can_be_left_out() {
    let mut watched = kit::Watched::new();
    let fake = Fake::new("").unwrap();
    let _monitor = tracecast_nvml::start(kit::config(&fake).with_gpus(false).with_host(true));
    let snapshot = watched.until("the host is there", |now| value(now, "tc_process_threads", &[]).is_some());
    assert_eq!(value(&snapshot, "tc_nvml_available", &[]), None);
    assert_eq!(up(&snapshot, "0"), None);
}
