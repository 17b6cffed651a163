//! Drivers that somebody recorded with the example `record`: every file of `tests/drivers`.

use std::collections::BTreeMap;
use std::path::Path;

use tracecast::testing::Snapshot;
use tracecast_nvml_fake::Fake;

use crate::kit::{Bench, of, up, value};

/// Values of a recording that one metric shows, and its unit there. The ones that are absent are absent in both.
const SHOWN: [(&str, &str, f64); 9] = [
    ("temperature", "tc_gpu_temperature_celsius", 1.0),
    ("memory_temperature", "tc_gpu_memory_temperature_celsius", 1.0),
    ("power", "tc_gpu_power_watts", 1e-3),
    ("power_limit", "tc_gpu_power_limit_watts", 1e-3),
    ("memory_total", "tc_gpu_memory_size_bytes", 1.0),
    ("replays", "tc_gpu_pcie_reported_replays", 1.0),
    ("fan", "tc_gpu_fan_speed_percent", 1.0),
    ("retired_pending", "tc_gpu_retired_pages_pending", 1.0),
    ("processes", "tc_gpu_compute_processes", 1.0),
];

fn check(name: &str, recording: &str) {
    let lines: BTreeMap<&str, &str> = recording.lines().filter_map(|line| line.split_once(" = ")).collect();
    let gpus: u32 = lines["gpus"].parse().unwrap();
    let config =
        |config: tracecast_nvml::Config| config.with_details(true).with_activity(true).with_pcie_throughput(true);
    let mut bench = Bench::with(Fake::replay(recording).unwrap(), config);
    let snapshot =
        bench.until("all are up", |now: &Snapshot| (0..gpus).all(|gpu| up(now, &gpu.to_string()) == Some(1.0)));
    for gpu in 0..gpus {
        for (value, metric, scale) in SHOWN {
            let recorded = lines.get(&*format!("gpu{gpu}.{value}")).map(|text| text.parse::<f64>().unwrap() * scale);
            let shown = of(&snapshot, metric, &gpu.to_string());
            let differ =
                shown.zip(recorded).map_or(shown != recorded, |(shown, recorded)| (shown - recorded).abs() > 1e-6);
            assert!(!differ, "{name}: {metric} of GPU {gpu} is {shown:?}, and was {recorded:?}");
        }
    }
    // What a GPU cannot do is no error.
    let errors = snapshot.metric("tc_nvml_errors_total").map_or(0, |metric| metric.points.len());
    assert_eq!(errors, 0, "{name}: {snapshot}");
    assert_eq!(value(&snapshot, "tc_nvml_available", &[]), Some(1.0), "{name}");
}

#[test]
fn recorded_drivers_are_shown_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drivers");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let recordings: Vec<_> = files.filter(|path| path.extension().is_some_and(|ext| ext == "script")).collect();
    assert!(!recordings.is_empty());
    for path in recordings {
        check(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
    }
}
