//! Metrics of the host, the process and its container by both kinds of names, from recorded files.

use std::path::{Path, PathBuf};

use tracecast::testing::Snapshot;
use tracecast_nvml::{Config, Names};

use crate::kit::{self, Watched, value};

/// A value: its name with the labels, ours and that of the conventions, and its unit there.
type Pair = (
    (&'static str, &'static [(&'static str, &'static str)]),
    (&'static str, &'static [(&'static str, &'static str)]),
    &'static str,
);

const GAUGES: [Pair; 14] = [
    (("tc_system_cpus", &[]), ("system.cpu.logical.count", &[]), "{cpu}"),
    (("tc_system_memory_size_bytes", &[]), ("system.memory.limit", &[]), "By"),
    (("tc_system_memory_available_bytes", &[]), ("system.memory.linux.available", &[]), "By"),
    (
        ("tc_system_memory_usage_bytes", &[("state", "used")]),
        ("system.memory.usage", &[("system.memory.state", "used")]),
        "By",
    ),
    (
        ("tc_system_memory_usage_bytes", &[("state", "free")]),
        ("system.memory.usage", &[("system.memory.state", "free")]),
        "By",
    ),
    (
        ("tc_system_memory_usage_bytes", &[("state", "buffers")]),
        ("system.memory.usage", &[("system.memory.state", "buffers")]),
        "By",
    ),
    (
        ("tc_system_memory_usage_bytes", &[("state", "cached")]),
        ("system.memory.usage", &[("system.memory.state", "cached")]),
        "By",
    ),
    (("tc_process_memory_resident_bytes", &[]), ("process.memory.usage", &[]), "By"),
    (("tc_process_memory_virtual_bytes", &[]), ("process.memory.virtual", &[]), "By"),
    (("tc_process_threads", &[]), ("process.thread.count", &[]), "{thread}"),
    (("tc_container_memory_usage_bytes", &[]), ("container.memory.usage", &[]), "By"),
    (("tc_container_memory_working_set_bytes", &[]), ("container.memory.working_set", &[]), "By"),
    (("tc_container_memory_available_bytes", &[]), ("container.memory.available", &[]), "By"),
    (("tc_container_cpu_usage", &[]), ("container.cpu.usage", &[]), "{cpu}"),
];

/// Counters, which begin with 0 on files that do not change.
const COUNTERS: [Pair; 4] = [
    (("tc_system_cpu_seconds_total", &[("mode", "interrupt")]), ("system.cpu.time", &[("cpu.mode", "interrupt")]), "s"),
    (("tc_process_cpu_seconds_total", &[("mode", "user")]), ("process.cpu.time", &[("cpu.mode", "user")]), "s"),
    (("tc_process_cpu_seconds_total", &[("mode", "system")]), ("process.cpu.time", &[("cpu.mode", "system")]), "s"),
    (("tc_container_cpu_seconds_total", &[]), ("container.cpu.time", &[]), "s"),
];

/// What has one name only.
const OURS: [&str; 7] = [
    "tc_process_open_files_limit",
    "tc_container_memory_limit_bytes",
    "tc_container_oom_kills_total",
    "tc_container_cpu_limit",
    "tc_container_cpu_limit_utilization_ratio",
    "tc_container_cpu_throttled_periods_total",
    "tc_container_cpu_throttled_seconds_total",
];

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/linux-6.8-v2-kubernetes")
}

fn snapshot(names: Names) -> Snapshot {
    let mut watched = Watched::new();
    let config = Config::default().with_interval(kit::INTERVAL).with_gpus(false);
    let _monitor = tracecast_nvml::start(config.with_host_root(recorded()).with_names(names));
    // This one needs two samples, so all others are there.
    let last = "tc_container_cpu_limit_utilization_ratio";
    watched.until("there were two samples", |now| value(now, last, &[]).is_some())
}

fn unit(snapshot: &Snapshot, name: &str) -> Option<String> {
    Some(snapshot.metric(name)?.unit.to_string())
}

#[test]
fn both_styles_say_the_same() {
    let (ours, conventional) = (snapshot(Names::Tracecast), snapshot(Names::SemanticConventions));
    for ((our_name, our_labels), (name, labels), expected) in GAUGES.into_iter().chain(COUNTERS) {
        let said = value(&ours, our_name, our_labels);
        assert!(said.is_some(), "{our_name}");
        assert_eq!(value(&conventional, name, labels), said, "{our_name} and {name}");
        assert_eq!(unit(&conventional, name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(value(&ours, "tc_container_memory_working_set_bytes", &[]), Some(556.0 * f64::from(1 << 20)));
}

#[test]
fn only_the_chosen_style_is_shown() {
    let (ours, conventional) = (snapshot(Names::Tracecast), snapshot(Names::SemanticConventions));
    for ((our_name, our_labels), (name, labels), _) in GAUGES.into_iter().chain(COUNTERS) {
        assert_eq!(value(&ours, name, labels), None, "{name}");
        assert_eq!(value(&conventional, our_name, our_labels), None, "{our_name}");
    }
    for name in OURS {
        let said = value(&ours, name, &[]);
        assert!(said.is_some(), "{name}");
        assert_eq!(value(&conventional, name, &[]), said, "{name}");
    }
}

#[test]
fn a_limit_and_what_is_used_of_it() {
    let snapshot = snapshot(Names::Tracecast);
    let plain = |name| value(&snapshot, name, &[]);
    assert_eq!(plain("tc_container_memory_limit_bytes"), Some(f64::from(1 << 30)));
    assert_eq!(plain("tc_container_memory_available_bytes"), Some(468.0 * f64::from(1 << 20)));
    assert_eq!(plain("tc_container_cpu_limit"), Some(1.5));
    // Nothing was used between two samples of the same files.
    assert_eq!(plain("tc_container_cpu_limit_utilization_ratio"), Some(0.0));
    let pressure = |labels: &[(&str, &str)]| value(&snapshot, "tc_container_pressure_seconds_total", labels);
    assert_eq!(pressure(&[("resource", "memory"), ("stalled", "full")]), Some(0.0));
}
