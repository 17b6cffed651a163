//! The metrics of the machine beside those of psutil, under a known load. Skipped where Python has no psutil: `TC_PSUTIL_PYTHON`
//! names a Python that has it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tracecast::testing::Snapshot;
use tracecast_nvml::{Config, HostGroup, Names};

use crate::kit::{self, Watched, value};

/// Prints a value in each line: its name, a tab, and the number.
const PSUTIL: &str = r#"
import os, psutil
def say(name, value): print(f"{name}\t{value}")
memory = psutil.virtual_memory()
for name in ("total", "available", "used", "free", "buffers", "cached"): say(f"memory.{name}", getattr(memory, name))
swap = psutil.swap_memory()
say("swap.used", swap.used); say("swap.free", swap.free)
for name, io in psutil.net_io_counters(pernic=True).items():
    say(f"net.{name}.transmit.bytes", io.bytes_sent); say(f"net.{name}.receive.bytes", io.bytes_recv)
    say(f"net.{name}.transmit.packets", io.packets_sent); say(f"net.{name}.receive.packets", io.packets_recv)
for name, io in psutil.disk_io_counters(perdisk=True).items():
    say(f"disk.{name}.read.bytes", io.read_bytes); say(f"disk.{name}.write.bytes", io.write_bytes)
    say(f"disk.{name}.read.operations", io.read_count); say(f"disk.{name}.write.operations", io.write_count)
    say(f"disk.{name}.read.seconds", io.read_time / 1e3); say(f"disk.{name}.write.seconds", io.write_time / 1e3)
    say(f"disk.{name}.busy", io.busy_time / 1e3)
for number, times in enumerate(psutil.cpu_times(percpu=True)):
    for mode in ("user", "system", "idle", "iowait"): say(f"cpu.{number}.{mode}", getattr(times, mode))
for period, average in zip(("1m", "5m", "15m"), psutil.getloadavg()): say(f"load.{period}", average)
for partition in psutil.disk_partitions():
    usage = psutil.disk_usage(partition.mountpoint)
    say(f"filesystem.{partition.mountpoint}.used", usage.used); say(f"filesystem.{partition.mountpoint}.free", usage.free)
    say(f"filesystem.{partition.mountpoint}.size", usage.total)
"#;

const ALL: [HostGroup; 7] = [
    HostGroup::Network,
    HostGroup::Disk,
    HostGroup::Filesystem,
    HostGroup::Load,
    HostGroup::Swap,
    HostGroup::PerCpu,
    HostGroup::PageFaults,
];

type Values = BTreeMap<String, f64>;

/// A Python that has psutil.
fn python() -> Option<PathBuf> {
    let of_checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/interop/bin/python");
    let named = std::env::var_os("TC_PSUTIL_PYTHON").map(PathBuf::from);
    let candidates = named.into_iter().chain([of_checks, PathBuf::from("python3")]);
    let has_psutil = |python: &PathBuf| {
        Command::new(python).args(["-c", "import psutil"]).output().is_ok_and(|output| output.status.success())
    };
    candidates.into_iter().find(has_psutil)
}

fn psutil(python: &Path) -> Values {
    let output = Command::new(python).args(["-c", PSUTIL]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| line.split_once('\t').map(|(name, value)| (name.to_owned(), value.parse().unwrap()));
    text.lines().filter_map(pair).collect()
}

/// Our metric for a value of psutil, with its labels; nothing for devices that we leave out.
fn ours(name: &str) -> Option<(String, Vec<(&'static str, String)>)> {
    let parts: Vec<&str> = name.split('.').collect();
    let labels =
        |pairs: &[(&'static str, &str)]| pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    let found = match parts[..] {
        ["memory", "total"] => ("tc_system_memory_size_bytes".to_owned(), Vec::new()),
        ["memory", "available"] => ("tc_system_memory_available_bytes".to_owned(), Vec::new()),
        ["memory", state] => ("tc_system_memory_usage_bytes".to_owned(), labels(&[("state", state)])),
        ["swap", state] => ("tc_system_swap_usage_bytes".to_owned(), labels(&[("state", state)])),
        ["net", device, way, what] => {
            (format!("tc_system_network_{what}_total"), labels(&[("device", device), ("direction", way)]))
        }
        ["disk", device, "busy"] => ("tc_system_disk_busy_seconds_total".to_owned(), labels(&[("device", device)])),
        ["disk", device, what, "seconds"] => {
            ("tc_system_disk_operation_seconds_total".to_owned(), labels(&[("device", device), ("operation", what)]))
        }
        ["disk", device, what, unit] => {
            (format!("tc_system_disk_{unit}_total"), labels(&[("device", device), ("operation", what)]))
        }
        ["cpu", number, mode] => {
            ("tc_system_cpu_core_seconds_total".to_owned(), labels(&[("cpu", number), ("mode", mode)]))
        }
        ["load", period] => ("tc_system_load_average".to_owned(), labels(&[("period", period)])),
        ["filesystem", .., "size"] => {
            let point = name.strip_prefix("filesystem.")?.strip_suffix(".size")?;
            ("tc_system_filesystem_size_bytes".to_owned(), labels(&[("mountpoint", point)]))
        }
        ["filesystem", .., state] => {
            let point = name.strip_prefix("filesystem.")?.strip_suffix(state)?.strip_suffix('.')?;
            ("tc_system_filesystem_usage_bytes".to_owned(), labels(&[("mountpoint", point), ("state", state)]))
        }
        _ => return None,
    };
    Some(found)
}

fn read(now: &Snapshot, name: &str) -> Option<f64> {
    let (metric, labels) = ours(name)?;
    let labels: Vec<_> = labels.iter().map(|(name, text)| (*name, &**text)).collect();
    value(now, &metric, &labels)
}

/// Sends this much over the loopback.
fn send(megabytes: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sender = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let megabyte = vec![7; 1 << 20];
        (0..megabytes).for_each(|_| stream.write_all(&megabyte).unwrap());
    });
    let mut received = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
    sender.join().unwrap();
    assert_eq!(received.len(), megabytes << 20);
}

/// Our values, of which all are newer than the call.
fn newer(watched: &mut Watched) -> Snapshot {
    let sent = |now: &Snapshot| read(now, "net.lo.transmit.bytes").unwrap_or(0.0);
    // Twice: when the second transfer is seen, the sample that saw the first one is whole.
    for _ in 0..2 {
        let before = sent(&watched.snapshot());
        send(1);
        watched.until("it is sampled", |now| sent(now) >= before + 1e6);
    }
    watched.snapshot()
}

fn load() {
    send(64);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("psutil-{}", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    (0..32).for_each(|_| file.write_all(&vec![7; 1 << 20]).unwrap());
    file.sync_all().unwrap();
    std::fs::remove_file(path).unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(300) {
        std::hint::black_box(start.elapsed());
    }
}

/// Each of our readings is taken between two of psutil, so it has to be between their values: nothing is assumed of what else the
/// machine does.
#[test]
fn counters_grow_as_those_of_psutil_and_gauges_are_the_same() {
    let Some(python) = python() else {
        println!("skipped: no Python with psutil; `TC_PSUTIL_PYTHON` names one");
        return;
    };
    let mut watched = Watched::new();
    let config = Config::default().with_interval(kit::INTERVAL).with_gpus(false).with_host_groups(ALL);
    let _monitor = tracecast_nvml::start(config);
    watched.until("it is read", |now| read(now, "load.1m").is_some() && read(now, "net.lo.receive.bytes").is_some());
    let mut between = || {
        let before = psutil(&python);
        let ours = newer(&mut watched);
        (before, ours, psutil(&python))
    };
    let (first_before, first, first_after) = between();
    load();
    let (last_before, last, last_after) = between();

    let (mut compared, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for name in first_before.keys() {
        let group = name.split('.').next().unwrap();
        let (Some(one), Some(other)) = (read(&first, name), read(&last, name)) else { continue };
        let [a, b, c, d] = [&first_before, &first_after, &last_before, &last_after].map(|values| values[name]);
        let (ours, least, most) = match group {
            // A tick is a hundredth of a second, and idle time now and then falls a little.
            "cpu" => (other - one, c - b - 0.05, d - a + 0.05),
            "net" | "disk" => (other - one, c - b - 0.0015, d - a + 0.0015),
            "load" => (other, c.min(d) - 0.011, c.max(d) + 0.011),
            // Memory goes up and down meanwhile.
            "memory" => {
                (other, c.min(d) - last_before["memory.total"] * 0.01, c.max(d) + last_before["memory.total"] * 0.01)
            }
            "swap" => (other, c.min(d) - 1e7, c.max(d) + 1e7),
            _ => (other, c.min(d) * 0.99 - 1e7, c.max(d) * 1.01 + 1e7),
        };
        *compared.entry(group).or_default() += 1;
        if ours < least || ours > most {
            wrong.push(format!("{name}: {ours} is not in {least}..={most}"));
        }
    }
    println!("compared with psutil: {compared:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (group, least) in [("memory", 6), ("net", 4), ("cpu", 4), ("load", 3), ("swap", 2)] {
        assert!(compared.get(group).is_some_and(|count| *count >= least), "{group}: {compared:?}");
    }
    // The load was seen.
    let grew = |name: &str| read(&last, name).unwrap() - read(&first, name).unwrap();
    assert!(grew("net.lo.receive.bytes") >= 64e6);
    let faults = |now: &Snapshot| value(now, "tc_process_page_faults_total", &[("kind", "minor")]).unwrap();
    assert!(faults(&last) > faults(&first));
}

#[test]
fn groups_are_absent_unless_they_are_asked_for_and_after_the_end() {
    let mut watched = Watched::new();
    let config = || Config::default().with_interval(kit::INTERVAL).with_gpus(false);
    let monitor = tracecast_nvml::start(config());
    let snapshot = watched.until("it is read", |now| value(now, "tc_system_cpus", &[]).is_some());
    let names = ["tc_system_load_average", "tc_system_network_bytes_total", "tc_system_filesystem_size_bytes"];
    let points = |now: &Snapshot| names.map(|name| now.metric(name).map_or(0, |metric| metric.points.len()));
    assert_eq!(points(&snapshot), [0; 3]);
    drop(monitor);
    let monitor = tracecast_nvml::start(config().with_host_groups([HostGroup::Load]));
    watched.until("it is read", |now| points(now) == [3, 0, 0]);
    drop(monitor);
    watched.until("it is gone", |now| points(now) == [0; 3]);
}

/// Pairs of names, and a label of each.
const TWO_NAMES: [(&str, &str, &str, &str); 9] = [
    ("tc_system_network_bytes_total", "direction", "system.network.io", "network.io.direction"),
    ("tc_system_network_packets_total", "device", "system.network.packet.count", "system.device"),
    ("tc_system_network_errors_total", "device", "system.network.errors", "network.interface.name"),
    ("tc_system_network_dropped_packets_total", "device", "system.network.packet.dropped", "network.interface.name"),
    ("tc_system_filesystem_usage_bytes", "state", "system.filesystem.usage", "system.filesystem.state"),
    ("tc_system_filesystem_size_bytes", "mountpoint", "system.filesystem.limit", "system.filesystem.mountpoint"),
    ("tc_system_swap_usage_bytes", "state", "system.paging.usage", "system.paging.state"),
    ("tc_system_page_faults_total", "kind", "system.paging.faults", "system.paging.fault.type"),
    ("tc_process_page_faults_total", "kind", "process.paging.faults", "system.paging.fault.type"),
];

#[test]
fn groups_have_the_names_of_one_style() {
    for names in [Names::Tracecast, Names::SemanticConventions] {
        let mut watched = Watched::new();
        let config = Config::default().with_interval(kit::INTERVAL).with_gpus(false).with_host_groups(ALL);
        let _monitor = tracecast_nvml::start(config.with_names(names));
        let has = |now: &Snapshot, name: &str, label: &str| {
            let points = now.metric(name).map(|metric| &*metric.points).unwrap_or_default();
            points.iter().any(|point| point.labels.iter().any(|(own, _)| *own == label))
        };
        let (ours, theirs) = (names == Names::Tracecast, names == Names::SemanticConventions);
        watched.until("all are read", |now| {
            TWO_NAMES.iter().all(|(own, label, conventional, of_conventions)| {
                has(now, own, label) == ours && has(now, conventional, of_conventions) == theirs
            })
        });
    }
}
