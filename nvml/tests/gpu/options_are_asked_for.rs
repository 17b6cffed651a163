//! What is measured only if somebody asks for it.

use tracecast::testing::Snapshot;
use tracecast_nvml_fake::{Driver, Fake};

use crate::kit::{self, Bench, of, up, value};

#[test]
fn traffic_that_the_driver_does_not_count_is_estimated_if_asked_for() {
    let script = |sent| {
        format!(
            "gpu0.pcie_sent = {sent}; gpu0.pcie_received = 0; gpu0.fail.pcie_bytes_sent = 3; gpu0.fail.pcie_bytes_received = 3"
        )
    };
    let way = |now: &Snapshot, gpu, way| value(now, "tc_gpu_pcie_bytes_total", &[("gpu", gpu), ("direction", way)]);
    let mut bench = Bench::new(&script(5000));
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    assert_eq!((way(&snapshot, "0", "transmit"), way(&snapshot, "1", "receive").is_some()), (None, true));
    drop(bench);
    let mut bench = Bench::with(Fake::new(&script(5000)).unwrap(), |config| config.with_pcie_throughput(true));
    let snapshot = bench.until("some were sent", |now| way(now, "0", "transmit").is_some_and(|bytes| bytes > 0.0));
    assert_eq!(way(&snapshot, "0", "receive"), Some(0.0));
}

#[test]
fn details_are_measured_if_asked_for() {
    let mut watched = kit::Watched::new();
    let script =
        "gpu0.encoder = 5; gpu0.decoder = 7; gpu0.fan = 44; gpu0.performance_state = 8; gpu0.link_generation = 4;
        gpu0.link_width = 8; gpu1.performance_state = 32; gpu1.fail.nvmlDeviceGetFanSpeed_v2 = 3;
        gpu1.fail.nvmlDeviceGetFanSpeed = 3";
    let fake = tracecast_nvml_fake::Fake::new(script).unwrap();
    let _monitor = tracecast_nvml::start(kit::config(&fake).with_details(true));
    let snapshot = watched.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    let check = |name, expected: [Option<f64>; 2]| {
        assert_eq!([of(&snapshot, name, "0"), of(&snapshot, name, "1")], expected, "{name}");
    };
    check("tc_gpu_encoder_utilization_percent", [Some(5.0), Some(0.0)]);
    check("tc_gpu_decoder_utilization_percent", [Some(7.0), Some(0.0)]);
    check("tc_gpu_fan_speed_percent", [Some(44.0), None]);
    check("tc_gpu_performance_state", [Some(8.0), None]);
    check("tc_gpu_pcie_link_generation", [Some(4.0), Some(5.0)]);
    check("tc_gpu_pcie_link_width", [Some(8.0), Some(16.0)]);
}

const LINKS: &str = "gpu0.nvlink_count = 18; gpu1.nvlink_count = 0";

fn links(now: &Snapshot, name: &str, label: &str, text: &str) -> Option<f64> {
    value(now, name, &[("gpu", "0"), (label, text)])
}

#[test]
fn links_are_measured_unless_they_are_switched_off() {
    let script = |sent: u64, replays: u64| {
        format!("{LINKS}; gpu0.nvlink_sent = {sent}; gpu0.nvlink_received = 5; gpu0.nvlink_replay = {replays}")
    };
    // More than 32 bits, and errors of one kind that this GPU does not know.
    let unknown = "gpu0.fail.nvlink_crc_data = 3";
    let fake = Fake::new(&format!("{}; {unknown}", script(5_000_000_000, 7))).unwrap();
    let mut bench = Bench::with(fake, |config| config);
    let sent = |now: &Snapshot| links(now, "tc_gpu_nvlink_bytes_total", "direction", "transmit");
    bench.until("it counts from here", |now| sent(now) == Some(0.0) && up(now, "1") == Some(1.0));
    bench.fake.script(&format!("{}; {unknown}", script(5_000_000_003, 9))).unwrap();
    let snapshot = bench.until("kibibytes are bytes", |now| sent(now) == Some(3072.0));
    assert_eq!(links(&snapshot, "tc_gpu_nvlink_bytes_total", "direction", "receive"), Some(0.0));
    assert_eq!(links(&snapshot, "tc_gpu_nvlink_errors_total", "kind", "replay"), Some(2.0));
    assert_eq!(links(&snapshot, "tc_gpu_nvlink_errors_total", "kind", "crc_flit"), Some(0.0));
    assert_eq!(links(&snapshot, "tc_gpu_nvlink_errors_total", "kind", "crc_data"), None);
    assert_eq!(
        [of(&snapshot, "tc_gpu_nvlink_links", "0"), of(&snapshot, "tc_gpu_nvlink_links", "1")],
        [Some(18.0), None]
    );
    assert_eq!(snapshot.metric("tc_gpu_nvlink_bytes_total").unwrap().points.len(), 2);
    drop(bench);
    let mut bench = Bench::with(Fake::new(LINKS).unwrap(), |config| config.with_nvlink(false));
    let snapshot = bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    for name in ["tc_gpu_nvlink_links", "tc_gpu_nvlink_up", "tc_gpu_nvlink_reported_errors"] {
        assert!(snapshot.metric(name).is_none_or(|metric| metric.points.is_empty()), "{name}");
    }
}

fn activity(now: &Snapshot, gpu: &str, part: &str) -> Option<f64> {
    value(now, "tc_gpu_activity_percent", &[("gpu", gpu), ("part", part)])
}

#[test]
fn the_activity_of_parts_is_measured_if_asked_for() {
    let script =
        "gpu0.active_sm = 61.5; gpu0.active_occupancy = 30; gpu0.active_tensor = 12; gpu0.fail.active_fp64 = 3;
        gpu1.fail.nvmlGpmSampleGet = 3; gpu2.mig = 2; gpus = 3";
    let mut bench = Bench::with(Fake::new(script).unwrap(), |config| config.with_activity(true));
    let snapshot = bench.until("two samples were compared", |now| {
        activity(now, "0", "sm").is_some() && up(now, "1") == Some(1.0) && up(now, "2") == Some(1.0)
    });
    let parts = ["sm", "sm_occupancy", "tensor", "fp64"].map(|part| activity(&snapshot, "0", part));
    assert_eq!(parts, [Some(61.5), Some(30.0), Some(12.0), None]);
    for part in ["graphics", "dram", "fp32", "fp16"] {
        assert!(activity(&snapshot, "0", part).is_some(), "{part}");
    }
    assert_eq!((activity(&snapshot, "1", "sm"), activity(&snapshot, "2", "sm")), (None, None));
}

#[test]
fn a_driver_that_knows_none_of_it_leaves_gaps() {
    let fake = Fake::of(Driver::Old, "gpu0.fan = 44; gpu0.fail.nvmlDeviceGetFieldValues = 3").unwrap();
    let everything = |config: tracecast_nvml::Config| config.with_activity(true).with_nvlink(true).with_details(true);
    let mut bench = Bench::with(fake, everything);
    let snapshot = bench.until("it is up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    for name in ["tc_gpu_activity_percent", "tc_gpu_nvlink_links"] {
        assert_eq!(of(&snapshot, name, "0"), None, "{name}");
    }
    assert_eq!(activity(&snapshot, "0", "sm"), None);
    assert_eq!(of(&snapshot, "tc_gpu_fan_speed_percent", "0"), Some(44.0));
    assert_eq!(value(&snapshot, "tc_nvml_errors_total", &[("error", "function_absent")]), None);
}
