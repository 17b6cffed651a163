//! Readings of recorded files of several kernels, intact and damaged.

mod damage;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::*;

const KERNELS: [&str; 8] = [
    "linux-4.4-v1-docker",
    "linux-4.19-v1-kubernetes",
    "linux-5.4-hybrid-docker",
    "linux-5.15-v2-kubernetes-host",
    "linux-6.1-v2-systemd",
    "linux-6.8-v2-kubernetes",
    "linux-6.18-hybrid",
    "written-v2-nested",
];

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)
}

fn read(name: &str) -> Reading {
    Host::open(&recorded(name)).read()
}

const MIB: u64 = 1 << 20;

fn check_container(name: &str, expected: &Usage) {
    assert_eq!(read(name).container, *expected, "{name}");
}

#[test]
fn a_container_of_kubernetes_in_a_cgroup_namespace() {
    let expected = Usage {
        memory: Some(700 * MIB),
        working_set: Some((700 - 144) * MIB),
        memory_limit: Some(1024 * MIB),
        oom_kills: Some(2),
        cpu_nanos: Some(573_402_187_000),
        cpu_quota: Some(1.5),
        periods: Some(81_234),
        throttled_periods: Some(4021),
        throttled_nanos: Some(312_847_561_000),
        stalls: [[401_223_817, 390_112_240], [71_233, 65_120], [1_892_213, 1_701_256]].map(|who| who.map(Some)),
    };
    check_container("linux-6.8-v2-kubernetes", &expected);
    assert_eq!(expected.available(), Some((1024 - 556) * MIB));
}

#[test]
fn a_service_of_systemd_has_no_limits() {
    let expected = Usage {
        memory: Some(50 * MIB),
        working_set: Some(38 * MIB),
        oom_kills: Some(0),
        cpu_nanos: Some(11_130_000_000),
        periods: Some(0),
        throttled_periods: Some(0),
        throttled_nanos: Some(0),
        stalls: [[812_344, 712_233], [0, 0], [1233, 1120]].map(|who| who.map(Some)),
        ..Usage::default()
    };
    check_container("linux-6.1-v2-systemd", &expected);
    assert_eq!(expected.available(), None);
}

#[test]
fn a_container_that_sees_its_pod_has_its_limits() {
    let expected = Usage {
        memory: Some(2048 * MIB),
        working_set: Some((2048 - 384) * MIB),
        memory_limit: Some(4096 * MIB),
        oom_kills: Some(0),
        cpu_nanos: Some(1_041_680_000_000),
        cpu_quota: Some(3.0),
        periods: Some(0),
        throttled_periods: Some(0),
        throttled_nanos: Some(0),
        // Before 5.13 there is no `full` line for CPUs, and not in every 5.15 kernel.
        stalls: [[Some(51_234), None], [Some(0), Some(0)], [Some(8123), Some(7123)]],
    };
    check_container("linux-5.15-v2-kubernetes-host", &expected);
}

#[test]
fn docker_where_both_versions_are_mounted() {
    let expected = Usage {
        memory: Some(187_654_144),
        working_set: Some(187_654_144 - 40 * MIB),
        memory_limit: Some(512 * MIB),
        oom_kills: Some(1),
        cpu_nanos: Some(30_041_234_567),
        cpu_quota: Some(0.5),
        periods: Some(9123),
        throttled_periods: Some(812),
        throttled_nanos: Some(41_234_567_890),
        ..Usage::default()
    };
    check_container("linux-5.4-hybrid-docker", &expected);
}

#[test]
fn a_limit_of_a_pod_that_cannot_be_seen_is_in_the_statistics() {
    let expected = Usage {
        memory: Some(1800 * MIB),
        working_set: Some((1800 - 128) * MIB),
        memory_limit: Some(2048 * MIB),
        oom_kills: Some(0),
        cpu_nanos: Some(903_571_234_567),
        periods: Some(0),
        throttled_periods: Some(0),
        throttled_nanos: Some(0),
        ..Usage::default()
    };
    check_container("linux-4.19-v1-kubernetes", &expected);
}

#[test]
fn docker_before_kills_were_counted() {
    let expected = Usage {
        memory: Some(94 * MIB),
        working_set: Some(74 * MIB),
        // The cgroup's own limit is 128 MiB, that of its parent slice 100 MiB.
        memory_limit: Some(100 * MIB),
        cpu_nanos: Some(5_112_345_678),
        cpu_quota: Some(0.5),
        periods: Some(812),
        throttled_periods: Some(12),
        throttled_nanos: Some(812_345_678),
        ..Usage::default()
    };
    check_container("linux-4.4-v1-docker", &expected);
}

#[test]
fn a_service_of_v1_has_memory_and_the_root_is_no_container() {
    let expected = Usage {
        memory: Some(395_071_488),
        working_set: Some(395_071_488 - 233_242_624),
        oom_kills: Some(0),
        ..Usage::default()
    };
    check_container("linux-6.18-hybrid", &expected);
}

#[test]
fn a_container_of_v2_has_the_least_limits_of_those_above_it() {
    let expected = Usage {
        memory: Some(5_000_000),
        working_set: Some(3_800_000),
        memory_limit: Some(8_000_000),
        cpu_nanos: Some(7_000_000_000),
        cpu_quota: Some(1.5),
        periods: Some(100),
        throttled_periods: Some(25),
        throttled_nanos: Some(1_500_000_000),
        ..Usage::default()
    };
    check_container("written-v2-nested", &expected);
}

#[test]
fn machines_are_read() {
    let check = |name: &str, ticks: [u64; parse::MODES], cpus, size: u64, available: u64| {
        let machine = read(name).machine;
        assert_eq!((machine.cpu_ticks, machine.cpus), (ticks.map(Some), Some(cpus)), "{name}");
        let [size, available] = [size, available].map(|kilobytes| Some(kilobytes * 1024));
        assert_eq!((machine.memory, machine.available), (size, available), "{name}");
        let [used, free, buffers, cached] = machine.kinds;
        assert_eq!(used.zip(available).map(|(used, available)| used + available), size, "{name}");
        // The smallest recording has no slabs.
        assert_eq!((free.is_some(), buffers.is_some(), cached.is_some()), (true, true, name != "written-v2-nested"));
    };
    check("linux-4.4-v1-docker", [212_344, 120, 112_344, 11_823_441, 21_234, 1234, 0], 1, 2_048_352, 1_212_344);
    check("linux-4.19-v1-kubernetes", [612_344, 0, 212_344, 31_823_441, 31_234, 11_233, 0], 4, 15_731_072, 11_812_344);
    check(
        "linux-5.4-hybrid-docker",
        [812_344, 1233, 312_344, 41_823_441, 41_234, 21_233, 512],
        2,
        8_152_552,
        5_812_344,
    );
    check("linux-6.8-v2-kubernetes", [4705, 356, 584, 3_699_876, 23_060, 477, 91], 4, 16_367_148, 12_345_678);
    check("linux-6.18-hybrid", [821_571, 0, 153_167, 296_904, 5110, 1931, 4507], 2, 24_682_416, 23_857_964);
}

#[test]
fn processes_are_read() {
    let check = |name: &str, ticks: [u64; 2], resident: u64, threads, most_files| {
        let process = read(name).process;
        assert_eq!((process.cpu_ticks, process.resident), (ticks.map(Some), Some(resident * 1024)), "{name}");
        assert_eq!((process.threads, process.most_files), (Some(threads), most_files), "{name}");
        assert!(process.resident < process.virtual_size, "{name}");
    };
    check("linux-4.4-v1-docker", [412, 99], 49_376, 11, Some(65_536));
    check("linux-4.19-v1-kubernetes", [81_234, 9123], 1_649_376, 112, None);
    check("linux-5.15-v2-kubernetes-host", [91_823, 12_345], 724_936, 65, Some(1_048_576));
    check("linux-6.8-v2-kubernetes", [48_213, 9127], 204_936, 37, Some(1_048_576));
    check("written-v2-nested", [250, 150], 1616, 5, None);
}

#[test]
fn an_old_kernel_says_less() {
    let machine = read("written-v2-nested").machine;
    let [user, nice, system, idle, rest @ ..] = machine.cpu_ticks;
    assert_eq!([user, nice, system, idle], [1000, 20, 300, 4000].map(Some));
    assert_eq!(rest, [None; 3]);
    assert_eq!(machine.available, Some(500_000 * 1024));
    assert_eq!(machine.stalls, [[None; 2]; 3]);
}

#[test]
fn where_there_is_nothing_nothing_is_known() {
    let mut host = Host::open(&recorded("nowhere"));
    assert!(host.is_absent());
    assert_eq!(host.read(), Reading::default());
    assert!(KERNELS.iter().all(|name| !Host::open(&recorded(name)).is_absent()));
}

#[test]
fn cpus_in_use_are_what_came_since_the_last_reading() {
    let mut host = Host::open(&recorded("nowhere"));
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    assert_eq!(host.cpus_used(Some(1_000_000_000), start), None);
    assert_eq!(host.cpus_used(Some(6_000_000_000), after(5)), Some(1.0));
    // A CPU time that decreased gives a gap, not a negative usage.
    assert_eq!(host.cpus_used(Some(1_000_000_000), after(10)), None);
    assert_eq!(host.cpus_used(Some(1_500_000_000), after(11)), Some(0.5));
    assert_eq!(host.cpus_used(None, after(15)), None);
    assert_eq!(host.cpus_used(Some(2_000_000_000), after(16)), None);
}

#[test]
fn the_quota_is_of_those_cpus() {
    let container = Usage { cpu_quota: Some(2.0), ..Usage::default() };
    assert_eq!(Reading { container, cpus_used: Some(0.5), ..Reading::default() }.quota_used(), Some(0.25));
    assert_eq!(Reading { cpus_used: Some(0.5), ..Reading::default() }.quota_used(), None);
}
