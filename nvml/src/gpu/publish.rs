//! A sample as values of metrics.

use std::time::Duration;

use nvml_wrapper::bitmasks::device::ThrottleReasons;

use tracecast::InternedKey;

use crate::gpu::conventional::{self as hw, Component, ErrorType, Health, Id, Sensor, Task, hw_id};
use crate::gpu::metrics::*;
use crate::gpu::sample::{self, Links, Sample};
use crate::names::{Names, add_as, show, show_as};
use crate::total::Total;

/// A GPU as metrics know it.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) gpu: u32,
    pub(crate) names: Names,
    /// What the conventions call it, if it has said that.
    pub(crate) id: Option<Id>,
}

impl Subject {
    fn id(self) -> Id {
        self.id.unwrap_or_else(|| hw_id::intern(&format!("gpu{}", self.gpu)))
    }
}

/// Counts of one GPU, over all generations of the driver.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    energy: Total,
    ecc: [Total; 2],
    replays: Total,
    link_kibibytes: [Total; 2],
    link_errors: [Total; sample::LINK_ERRORS],
}

/// The bit of each reason.
const THROTTLES: [(Throttle, ThrottleReasons); 9] = [
    (Throttle::Idle, ThrottleReasons::GPU_IDLE),
    (Throttle::ApplicationClocks, ThrottleReasons::APPLICATIONS_CLOCKS_SETTING),
    (Throttle::PowerCap, ThrottleReasons::SW_POWER_CAP),
    (Throttle::HardwareSlowdown, ThrottleReasons::HW_SLOWDOWN),
    (Throttle::SyncBoost, ThrottleReasons::SYNC_BOOST),
    (Throttle::ThermalSlowdown, ThrottleReasons::SW_THERMAL_SLOWDOWN),
    (Throttle::HardwareThermalSlowdown, ThrottleReasons::HW_THERMAL_SLOWDOWN),
    (Throttle::PowerBrake, ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN),
    (Throttle::DisplayClocks, ThrottleReasons::DISPLAY_CLOCK_SETTING),
];

const ROWS: [Remapped; 4] = [Remapped::Correctable, Remapped::Uncorrectable, Remapped::Pending, Remapped::Failure];
const DIRECTIONS: [Direction; 2] = [Direction::Transmit, Direction::Receive];
const LINK_FAULTS: [LinkError; sample::LINK_ERRORS] =
    [LinkError::CrcFlit, LinkError::CrcData, LinkError::Replay, LinkError::Recovery];
/// In the order in which GPM is asked for them.
const PARTS: [Part; sample::PARTS] =
    [Part::Graphics, Part::Sm, Part::SmOccupancy, Part::Tensor, Part::Dram, Part::Fp64, Part::Fp32, Part::Fp16];

/// Sets all gauges of a GPU. The empty sample makes all of them gaps.
pub(crate) fn gauges(of: Subject, sample: &Sample) {
    gauges_with_two_names(of, sample);
    let gpu = of.gpu;
    show!(MEMORY_UTILIZATION(gpu) = sample.utilization.map(|(_, of_memory)| f64::from(of_memory)));
    show!(MEMORY_RESERVED(gpu) = sample.memory.and_then(|memory| memory.reserved));
    for (instance, memory) in (0_u32..).zip(sample.instances) {
        show!(INSTANCE_MEMORY_USED(gpu, instance) = memory.map(|memory| memory.used));
        show!(INSTANCE_MEMORY_SIZE(gpu, instance) = memory.map(|memory| memory.total));
    }
    show!(POWER_LIMIT(gpu) = sample.power_limit.map(|milliwatts| f64::from(milliwatts) / 1e3));
    show!(CLOCK(gpu, Clock::Sm) = sample.clock_sm.map(|megahertz| f64::from(megahertz) * 1e6));
    show!(CLOCK(gpu, Clock::Memory) = sample.clock_memory.map(|megahertz| f64::from(megahertz) * 1e6));
    for (reason, bit) in THROTTLES {
        show!(THROTTLED(gpu, reason) = sample.throttle.map(|reasons| u64::from(reasons.contains(bit))));
    }
    for (kind, rows) in ROWS.into_iter().zip(sample.remapped) {
        show!(REMAPPED_ROWS(gpu, kind) = rows);
    }
    show!(PROCESSES(gpu) = sample.processes.map(u64::from));
    options(of, sample);
}

/// Gauges that the conventions have a name for.
fn gauges_with_two_names(of: Subject, sample: &Sample) {
    let Subject { gpu, names, .. } = of;
    let id = || of.id();
    // The conventions have fractions where we have percent.
    let scale = if names == Names::Tracecast { 1.0 } else { 100.0 };
    let busy = |percent: Option<u32>| percent.map(|percent| f64::from(percent) / scale);
    let (utilization, details) = (sample.utilization.map(|(of_gpu, _)| of_gpu), &sample.details);
    show_as!(names, UTILIZATION(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::General) = busy(utilization));
    show_as!(names, ENCODER(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::Encoder) = busy(details.encoder));
    show_as!(names, DECODER(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::Decoder) = busy(details.decoder));
    let memory = sample.memory;
    show_as!(names, MEMORY_USED(gpu), hw::MEMORY_USAGE(id(), Component::Gpu) = memory.map(|memory| memory.used));
    show_as!(names, MEMORY_SIZE(gpu), hw::MEMORY_LIMIT(id(), Component::Gpu) = memory.map(|memory| memory.total));
    if names == Names::SemanticConventions {
        // Ours is found by dividing the two above.
        let share = memory.filter(|memory| memory.total > 0).map(|memory| memory.used as f64 / memory.total as f64);
        show!(hw::MEMORY_UTILIZATION(id(), Component::Gpu) = share);
    }
    let (degrees, of_memory) =
        (sample.temperature.map(f64::from), sample.memory_temperature.map(|degrees| degrees as f64));
    show_as!(names, TEMPERATURE(gpu), hw::TEMPERATURE(id(), Component::Gpu, Sensor::Gpu) = degrees);
    show_as!(names, MEMORY_TEMPERATURE(gpu), hw::TEMPERATURE(id(), Component::Gpu, Sensor::Memory) = of_memory);
    let watts = sample.power.map(|milliwatts| f64::from(milliwatts) / 1e3);
    show_as!(names, POWER(gpu), hw::POWER(id(), Component::Gpu) = watts);
}

/// Gauges that have to be asked for.
fn options(of: Subject, sample: &Sample) {
    let (gpu, details) = (of.gpu, &sample.details);
    show!(FAN(gpu) = details.fan.map(f64::from));
    show!(PERFORMANCE_STATE(gpu) = details.performance_state.map(u64::from));
    show!(LINK_GENERATION(gpu) = details.link_generation.map(u64::from));
    show!(LINK_WIDTH(gpu) = details.link_width.map(u64::from));
    show!(LINKS(gpu) = sample.links.count);
    for (part, percent) in PARTS.into_iter().zip(sample.activity) {
        show!(ACTIVITY(gpu, part) = percent);
    }
    if of.names == Names::Tracecast {
        for (direction, kilobytes) in DIRECTIONS.into_iter().zip(sample.throughput) {
            show!(PCIE_THROUGHPUT(gpu, direction) = kilobytes.map(|kilobytes| f64::from(kilobytes) * 1e3));
        }
    }
}

/// Adds to the counters of a GPU what came since the last sample, which was `since` ago; 0 if it is not the one before.
pub(crate) fn counters(of: Subject, sample: &Sample, totals: &mut Totals, since: Duration) {
    if let Some(millijoules) = sample.energy {
        let joules = totals.energy.advance(millijoules) as f64 / 1e3;
        add_as!(of.names, ENERGY(of.gpu), hw::ENERGY(of.id(), Component::Gpu) += joules);
    }
    let readings = [(Severity::Corrected, sample.ecc_corrected), (Severity::Uncorrected, sample.ecc_uncorrected)];
    for ((severity, reading), total) in readings.into_iter().zip(&mut totals.ecc) {
        let Some(reading) = reading else { continue };
        let (errors, kind) = (total.advance(reading), ErrorType::Memory(severity));
        add_as!(of.names, ECC_ERRORS(of.gpu, severity), hw::ERRORS(of.id(), Component::Gpu, kind) += errors);
    }
    if let Some(replays) = sample.replays {
        REPLAYS.add(totals.replays.advance(u64::from(replays)), (of.gpu,));
    }
    links(of.gpu, &sample.links, totals);
    if of.names == Names::SemanticConventions {
        for (direction, kilobytes) in DIRECTIONS.into_iter().zip(sample.throughput) {
            let Some(kilobytes) = kilobytes else { continue };
            hw::IO.add(f64::from(kilobytes) * 1e3 * since.as_secs_f64(), (of.id(), Component::Gpu, direction));
        }
    }
}

fn links(gpu: u32, links: &Links, totals: &mut Totals) {
    for ((direction, reading), total) in DIRECTIONS.into_iter().zip(links.moved).zip(&mut totals.link_kibibytes) {
        if let Some(kibibytes) = reading {
            LINK_BYTES.add(total.advance(kibibytes).saturating_mul(1024), (gpu, direction));
        }
    }
    for ((kind, reading), total) in LINK_FAULTS.into_iter().zip(links.errors).zip(&mut totals.link_errors) {
        if let Some(errors) = reading {
            LINK_ERRORS.add(total.advance(errors), (gpu, kind));
        }
    }
}

/// Says whether a GPU answers, or nothing.
pub(crate) fn up(of: Subject, up: Option<bool>) {
    if of.names == Names::Tracecast {
        show!(UP(of.gpu) = up.map(u64::from));
        return;
    }
    for (state, holds) in [(Health::Ok, up), (Health::Failed, up.map(|up| !up))] {
        show!(hw::STATUS(of.id(), Component::Gpu, state) = holds.map(u64::from));
    }
}

/// Counts an XID.
pub(crate) fn xid(of: Subject, xid: Xid) {
    let kind = ErrorType::Xid(xid);
    add_as!(of.names, XIDS_SEEN(of.gpu, xid), hw::ERRORS(of.id(), Component::Gpu, kind) += 1_u64);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tracecast::testing::{Captured, MetricPoints, Point, PointValue, capture};

    use super::*;
    use crate::gpu::sample::{Details, Memory};

    /// A gauge's names in both styles, and the label by which gauges that share a name differ.
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
            ecc_corrected: Some(2),
            ecc_uncorrected: Some(1),
            throughput: [Some(5), Some(7)],
            details: Details { encoder: Some(5), decoder: Some(7), ..Details::default() },
            ..Sample::default()
        }
    }

    fn subject(names: Names) -> Subject {
        Subject { gpu: 0, names, id: (names == Names::SemanticConventions).then(|| hw_id::intern("GPU-publish")) }
    }

    fn both_styles(made: impl Fn(Subject)) -> [Captured; 2] {
        [Names::Tracecast, Names::SemanticConventions].map(|names| capture(|| made(subject(names))))
    }

    /// The unit and value of the only series of a metric whose last label is this.
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
        let later = Sample { energy: Some(5500), ecc_corrected: Some(1502), ecc_uncorrected: Some(1501), ..sample() };
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

    /// The names of metrics that show anything of a whole sample.
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
        // Those that the conventions have no name for.
        assert_eq!(both, ["tc_gpu_memory_controller_utilization_percent", "tc_gpu_memory_reserved_bytes"]);
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
}
