//! The names of the semantic conventions, from a GPU on.

use tracecast::testing::Snapshot;
use tracecast_nvml::Names;
use tracecast_nvml_fake::Fake;

use crate::kit::{self, Bench, labels_of, up, value};

const SCRIPT: &str = "gpu0.utilization = 87; gpu0.memory_total = 1000; gpu0.memory_used = 600; gpu0.temperature = 61;
    gpu0.memory_temperature = 70; gpu0.power = 250500; gpu0.clock_sm = 1980";
const ID: &str = "GPU-00000000-fa4e-4000-8000-000000000000";

fn start(script: &str) -> Bench {
    let names = |config: tracecast_nvml::Config| config.with_names(Names::SemanticConventions);
    Bench::with(Fake::new(script).unwrap(), |config| names(config).with_pcie_throughput(true))
}

/// A value of the first GPU, with one label more or none.
fn hw(now: &Snapshot, name: &str, label: Option<(&str, &str)>) -> Option<f64> {
    let labels: Vec<_> = [("hw.id", ID), ("hw.type", "gpu")].into_iter().chain(label).collect();
    value(now, name, &labels)
}

fn state(now: &Snapshot, state: &str) -> Option<f64> {
    hw(now, "hw.status", Some(("hw.state", state)))
}

#[test]
fn values_have_the_names_units_and_labels_of_the_conventions() {
    let mut bench = start(SCRIPT);
    let snapshot = bench.until("it is well", |now| state(now, "ok") == Some(1.0));
    let check = |name, label, expected| assert_eq!(hw(&snapshot, name, label), Some(expected), "{name} {label:?}");
    check("hw.status", Some(("hw.state", "failed")), 0.0);
    check("hw.gpu.utilization", Some(("hw.gpu.task", "general")), 0.87);
    check("hw.gpu.memory.usage", None, 600.0);
    check("hw.gpu.memory.limit", None, 1000.0);
    check("hw.gpu.memory.utilization", None, 0.6);
    check("hw.temperature", Some(("hw.sensor_location", "gpu")), 61.0);
    check("hw.temperature", Some(("hw.sensor_location", "memory")), 70.0);
    check("hw.power", None, 250.5);
    check("hw.errors", Some(("error.type", "uncorrected")), 0.0);
    assert!(hw(&snapshot, "hw.energy", None).is_some());
    let unit = |name| snapshot.metric(name).unwrap().unit.clone();
    let units = ["hw.gpu.utilization", "hw.gpu.memory.usage", "hw.temperature", "hw.power", "hw.energy", "hw.errors"];
    assert_eq!(units.map(unit), ["1", "By", "Cel", "W", "J", "{error}"]);
    for name in ["tc_gpu_up", "tc_gpu_utilization_percent", "tc_gpu_power_watts", "tc_gpu_energy_joules_total"] {
        assert!(snapshot.metric(name).is_none_or(|metric| metric.points.is_empty()), "{name}");
    }
    // What has no name there keeps ours, and the two meet in `hw.gpu.info`.
    assert_eq!(value(&snapshot, "tc_gpu_clock_hertz", &[("gpu", "0"), ("clock", "sm")]), Some(1.98e9));
    let description = labels_of(&snapshot, "hw.gpu.info", &[("hw.id", ID)]);
    for (label, text) in [
        ("hw.type", "gpu"),
        ("hw.name", "GPU 0"),
        ("hw.model", "NVIDIA Fake 80GB"),
        ("hw.vendor", "NVIDIA"),
        ("hw.driver_version", "580.95.05"),
        ("hw.serial_number", "1650000000000"),
        ("gpu", "0"),
    ] {
        assert!(description.contains(&(label.to_owned(), text.to_owned())), "{label}={text} in {description:?}");
    }
    let limit = |sensor, kind| {
        let labels = [("hw.id", ID), ("hw.type", "gpu"), ("hw.sensor_location", sensor), ("hw.limit_type", kind)];
        value(&snapshot, "hw.temperature.limit", &labels)
    };
    assert_eq!((limit("gpu", "high.critical"), limit("memory", "high.degraded")), (Some(92.0), Some(95.0)));
}

#[test]
fn bytes_over_pcie_that_the_driver_does_not_count_grow_with_their_rate() {
    let uncounted = "gpu0.fail.pcie_bytes_sent = 3; gpu0.fail.pcie_bytes_received = 3";
    let mut bench = start(&format!("gpu0.pcie_sent = 5000; gpu0.pcie_received = 0; {uncounted}"));
    let io = |now: &Snapshot, way| hw(now, "hw.gpu.io", Some(("network.io.direction", way)));
    let snapshot = bench.until("some were sent", |now| io(now, "transmit").is_some_and(|bytes| bytes > 0.0));
    assert_eq!(io(&snapshot, "receive"), Some(0.0));
    assert!(snapshot.metric("tc_gpu_pcie_bytes_total").is_none_or(|metric| metric.points.is_empty()));
}

#[test]
fn bytes_over_pcie_are_those_that_the_driver_counts() {
    let script =
        |sent: u64| format!("gpu0.pcie_bytes_sent = {sent}; gpu0.pcie_bytes_received = 7; gpu0.pcie_sent = 5000");
    let mut bench = start(&script(1000));
    let io = |now: &Snapshot, way| hw(now, "hw.gpu.io", Some(("network.io.direction", way)));
    bench.until("it counts from here", |now| io(now, "transmit") == Some(0.0));
    bench.fake.script(&script(6_000_001_000)).unwrap();
    bench.until("it grows by what was sent", |now| io(now, "transmit") == Some(6e9) && io(now, "receive") == Some(0.0));
}

#[test]
fn a_lost_gpu_has_failed_and_has_no_values() {
    let mut bench = start("");
    bench.until("it is well", |now| state(now, "ok") == Some(1.0));
    bench.fake.script("gpu0.fail = 15").unwrap();
    let snapshot = bench.until("it is lost", |now| state(now, "failed") == Some(1.0));
    assert_eq!((state(&snapshot, "ok"), hw(&snapshot, "hw.power", None)), (Some(0.0), None));
    bench.monitor.take().unwrap().shutdown();
    let snapshot = bench.watched.snapshot();
    assert_eq!((state(&snapshot, "ok"), state(&snapshot, "failed")), (None, None));
}

#[test]
fn a_gpu_that_has_never_answered_has_failed_under_its_index() {
    let mut bench = start("gpu0.hang = 3600");
    let early =
        |now: &Snapshot| value(now, "hw.status", &[("hw.id", "gpu0"), ("hw.type", "gpu"), ("hw.state", "failed")]);
    bench.until("it is seen to hang", |now| early(now) == Some(1.0));
    bench.fake.script("").unwrap();
    let snapshot = bench.until("it has a name", |now| state(now, "ok") == Some(1.0));
    assert_eq!(early(&snapshot), None);
}

#[test]
fn a_gpu_that_is_gone_has_failed() {
    let mut bench = start("gpus = 1");
    bench.until("it is well", |now| state(now, "ok") == Some(1.0));
    bench.fake.script("gpus = 0").unwrap();
    let snapshot = bench.until("it is gone", |now| state(now, "failed") == Some(1.0));
    assert_eq!((state(&snapshot, "ok"), hw(&snapshot, "hw.power", None)), (Some(0.0), None));
    bench.fake.script("gpus = 1").unwrap();
    bench.until("it is back", |now| state(now, "ok") == Some(1.0) && state(now, "failed") == Some(0.0));
}

#[test]
fn an_xid_is_an_error_of_its_own_type() {
    let mut bench = start("");
    let xid = |now: &Snapshot, kind| hw(now, "hw.errors", Some(("error.type", kind)));
    let next = bench.until_reported(1, |number| format!("xid = {number}:0:79"), |now| xid(now, "xid_79").is_some());
    bench.fake.script(&format!("xid = {next}:0:4711")).unwrap();
    let snapshot = bench.until("a rare one is other", |now| xid(now, "xid_other") == Some(1.0));
    assert_eq!(kit::xids(&snapshot, "0", "79"), None);
}

#[test]
fn without_a_choice_names_are_ours() {
    let mut bench = Bench::new("");
    let snapshot = bench.until("it is up", |now| up(now, "0") == Some(1.0));
    assert!(snapshot.metrics.iter().all(|metric| !metric.name.contains('.')), "{snapshot}");
}
