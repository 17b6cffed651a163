//! One sample, published in both naming styles.

use std::collections::BTreeSet;
use std::time::Duration;

use tracecast::InternedKey;
use tracecast::testing::{Captured, MetricPoints, Point, PointValue, capture};

use crate::gpu::conventional::hw_id;
use crate::gpu::counters::{Totals, counters, xid};
use crate::gpu::publish::{Subject, gauges, gauges_with_two_names, up};
use crate::gpu::sample::{Memory, Sample, Wear};
use crate::gpu::xids::Xid;
use crate::names::Names;

/// The names of each gauge in both styles, and the last label value, which tells apart gauges with the same name.
const GAUGES: [(&str, &str, &str); 8] = [
    ("tc_gpu_utilization_percent", "hw.gpu.utilization", "general"),
    ("tc_gpu_encoder_utilization_percent", "hw.gpu.utilization", "encoder"),
    ("tc_gpu_decoder_utilization_percent", "hw.gpu.utilization", "decoder"),
    ("tc_gpu_memory_used_bytes", "hw.gpu.memory.usage", "gpu"),
    ("tc_gpu_memory_size_bytes", "hw.gpu.memory.limit", "gpu"),
    ("tc_gpu_temperature_celsius", "hw.temperature", "gpu"),
    ("tc_gpu_memory_temperature_celsius", "hw.temperature", "memory"),
    ("tc_gpu_power_watts", "hw.power", "gpu"),
];

fn sample() -> Sample {
    Sample {
        utilization: Some((87, 40)),
        memory: Some(Memory { used: 600, total: 1000, reserved: Some(10) }),
        temperature: Some(61),
        memory_temperature: Some(70),
        power: Some(250_500),
        energy: Some(4000),
        wear: wear(2, 1),
        throughput: [Some(5), Some(7)],
        encoder: Some(5),
        decoder: Some(7),
        ..Sample::default()
    }
}

fn wear(corrected: u64, uncorrected: u64) -> Wear {
    Wear { ecc: [[Some(corrected), Some(uncorrected)], [None; 2]], ..Wear::default() }
}

fn subject(names: Names) -> Subject {
    Subject { gpu: 0, names, id: (names == Names::SemanticConventions).then(|| hw_id::intern("GPU-publish")) }
}

fn both_styles(made: impl Fn(Subject)) -> [Captured; 2] {
    [Names::Tracecast, Names::SemanticConventions].map(|names| capture(|| made(subject(names))))
}

/// Returns unit and value of the only series of a metric with this last label value.
fn series(captured: &Captured, name: &str, last: &str) -> (&'static str, f64) {
    let metric = captured.metrics.iter().find(|metric| metric.name == name);
    let metric = metric.unwrap_or_else(|| panic!("no {name}: {captured:?}"));
    let is_wanted = |point: &&Point| point.labels.last().is_some_and(|(_, text)| text.to_string() == last);
    let [point] = metric.points.iter().filter(is_wanted).collect::<Vec<_>>()[..] else { panic!("{captured:?}") };
    let std::borrow::Cow::Borrowed(unit) = metric.unit else { panic!("{metric:?}") };
    match point.value {
        PointValue::U64(value) => (unit, value as f64),
        PointValue::F64(value) => (unit, value),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn both_styles_of_a_gauge_say_the_same_in_their_units() {
    let [own, conventional] = both_styles(|of| gauges_with_two_names(of, &sample()));
    for (own_name, name, last) in GAUGES {
        let (own_unit, value) = series(&own, own_name, "0");
        let expected = if own_unit == "%" { ("1", value / 100.0) } else { (own_unit, value) };
        assert_eq!(series(&conventional, name, last), expected, "{own_name} and {name}");
    }
    assert_eq!(series(&conventional, "hw.gpu.memory.utilization", "gpu"), ("1", 0.6));
    // No other series was touched.
    let all = |of: &Captured| of.metrics.iter().map(|metric| metric.points.len()).sum::<usize>();
    assert_eq!((all(&own), all(&conventional)), (GAUGES.len(), GAUGES.len() + 1));
    assert!(own.metrics.iter().all(|metric| metric.name.starts_with("tc_gpu_")), "{own:?}");
    assert!(conventional.metrics.iter().all(|metric| metric.name.starts_with("hw.")), "{conventional:?}");
}

#[test]
fn both_styles_of_a_counter_count_the_same() {
    let later = Sample { energy: Some(5500), wear: wear(1502, 1501), ..sample() };
    let [own, conventional] = both_styles(|of| {
        let mut totals = Totals::default();
        [&sample(), &later].into_iter().for_each(|sample| counters(of, sample, &mut totals, Duration::ZERO));
    });
    let own = |name, last| series(&own, name, last).1;
    let conventional = |name, last| series(&conventional, name, last).1;
    assert_eq!([own("tc_gpu_energy_joules_total", "0"), conventional("hw.energy", "gpu")], [1.5; 2]);
    for severity in ["corrected", "uncorrected"] {
        let errors = [own("tc_gpu_ecc_errors_total", severity), conventional("hw.errors", severity)];
        assert_eq!(errors, [1500.0; 2], "{severity}");
    }
}

/// Returns the names of metrics that have at least one series.
fn names(captured: &Captured) -> BTreeSet<String> {
    let shown = captured.metrics.iter().filter(|metric: &&MetricPoints| !metric.points.is_empty());
    shown.map(|metric| metric.name.to_string()).collect()
}

#[test]
fn only_the_chosen_style_is_shown() {
    let [own, conventional] = both_styles(|of| {
        gauges(of, &sample());
        counters(of, &sample(), &mut Totals::default(), Duration::from_secs(1));
        up(of, Some(true));
        xid(of, Xid::new(79));
    });
    let (own, conventional) = (names(&own), names(&conventional));
    assert!(own.iter().all(|name| name.starts_with("tc_gpu_")), "{own:?}");
    let both: Vec<_> = own.intersection(&conventional).collect();
    // Metrics without a conventional name.
    let without_name =
        ["tc_gpu_ecc_reported_errors", "tc_gpu_memory_controller_utilization_percent", "tc_gpu_memory_reserved_bytes"];
    assert_eq!(both, without_name);
    let hw: Vec<_> = conventional.iter().filter(|name| name.starts_with("hw.")).collect();
    assert_eq!(
        hw,
        [
            "hw.energy",
            "hw.errors",
            "hw.gpu.io",
            "hw.gpu.memory.limit",
            "hw.gpu.memory.usage",
            "hw.gpu.memory.utilization",
            "hw.gpu.utilization",
            "hw.power",
            "hw.status",
            "hw.temperature"
        ]
    );
    assert_eq!(conventional.len(), hw.len() + both.len());
}

/// A rate such as `_bytes_per_second` has no unit in OTLP.
#[test]
fn every_metric_of_ours_has_the_unit_of_its_name_or_counts_something() {
    let all = tracecast::catalogue();
    let own: Vec<_> = all.metrics.iter().filter(|metric| metric.crate_name == "tracecast-nvml").collect();
    assert!(own.len() > 80, "{}", own.len());
    let units = ["seconds", "bytes", "percent", "ratio", "celsius", "watts", "joules", "hertz"];
    for metric in own.iter().filter(|metric| metric.name.starts_with("tc_")) {
        let base = metric.name.strip_suffix("_total").unwrap_or(metric.name);
        assert!(!base.contains("_per_"), "{}", metric.name);
        let says_unit = units.iter().any(|unit| base.ends_with(&format!("_{unit}")));
        assert_eq!(metric.unit.is_empty(), !says_unit, "{} in `{}`", metric.name, metric.unit);
        let in_the_middle = units.iter().find(|unit| base.contains(&format!("_{unit}_")));
        assert_eq!(in_the_middle, None, "{}", metric.name);
    }
}
