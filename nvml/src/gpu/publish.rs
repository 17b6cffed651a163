//! Sets the metrics of a GPU from a sample.

use nvml_wrapper::bitmasks::device::ThrottleReasons;

use tracecast::InternedKey;

use crate::gpu::conventional::{self as hw, Component, Health, Id, LimitType, Sensor, Task, hw_id};
use crate::gpu::metrics::*;
use crate::gpu::sample::{self, Instance, Sample, Wear};
use crate::gpu::window::{QUANTITIES, Spread, Spreads};
use crate::names::{Names, show, show_as};

/// The labels and naming style of a GPU's metrics.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) gpu: u32,
    pub(crate) names: Names,
    /// The conventional identifier, once the UUID is known.
    pub(crate) id: Option<Id>,
}

impl Subject {
    pub(crate) fn id(self) -> Id {
        self.id.unwrap_or_else(|| hw_id::intern(&format!("gpu{}", self.gpu)))
    }
}

/// The throttle reasons with NVML's bits.
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
pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Transmit, Direction::Receive];
/// The error kinds of one link, in the order of the queried fields.
const ONE_LINK_FAULTS: [OneLinkError; sample::ONE_LINK_ERRORS] = [
    OneLinkError::Replay,
    OneLinkError::Recovery,
    OneLinkError::Crc,
    OneLinkError::Receive,
    OneLinkError::LinkRecovery,
    OneLinkError::Symbol,
];
/// The recovery actions, indexed by NVML's number.
const ACTIONS: [Action; 5] =
    [Action::Nothing, Action::GpuReset, Action::NodeReboot, Action::DrainP2p, Action::DrainAndReset];
/// The temperature thresholds, in the order of the queries, each with its conventional name if there is one.
const LIMITS: [(Limit, Option<(Sensor, LimitType)>); sample::LIMITS] = [
    (Limit::Shutdown, Some((Sensor::Gpu, LimitType::HighCritical))),
    (Limit::Slowdown, Some((Sensor::Gpu, LimitType::HighDegraded))),
    (Limit::MemoryMaximum, Some((Sensor::Memory, LimitType::HighDegraded))),
    (Limit::GpuMaximum, None),
];
/// The parts of a GPU, in the order of the GPM query.
const PARTS: [Part; sample::PARTS] =
    [Part::Graphics, Part::Sm, Part::SmOccupancy, Part::Tensor, Part::Dram, Part::Fp64, Part::Fp32, Part::Fp16];

/// Sets all gauges of a GPU. The empty sample makes all of them gaps.
pub(crate) fn gauges(of: Subject, sample: &Sample) {
    gauges_with_two_names(of, sample);
    temperature_limits(of, sample);
    let gpu = of.gpu;
    show!(MEMORY_UTILIZATION(gpu) = sample.utilization.map(|(_, of_memory)| f64::from(of_memory)));
    show!(MEMORY_RESERVED(gpu) = sample.memory.and_then(|memory| memory.reserved));
    for (number, instance) in (0_u32..).zip(&sample.instances) {
        let Instance { memory, activity, .. } = instance.unwrap_or_default();
        show!(INSTANCE_MEMORY_USED(gpu, number) = memory.map(|memory| memory.used));
        show!(INSTANCE_MEMORY_SIZE(gpu, number) = memory.map(|memory| memory.total));
        for (part, percent) in PARTS.into_iter().zip(activity) {
            show!(INSTANCE_ACTIVITY(gpu, number, part) = percent);
        }
    }
    show!(POWER_LIMIT(gpu) = sample.power_limit.map(|milliwatts| f64::from(milliwatts) / 1e3));
    show!(CLOCK(gpu, Clock::Sm) = sample.clock_sm.map(|megahertz| f64::from(megahertz) * 1e6));
    show!(CLOCK(gpu, Clock::Memory) = sample.clock_memory.map(|megahertz| f64::from(megahertz) * 1e6));
    for (reason, bit) in THROTTLES {
        show!(THROTTLED(gpu, reason) = sample.throttle.map(|reasons| u64::from(reasons.contains(bit))));
    }
    wear(gpu, &sample.wear);
    show!(REPLAYS_REPORTED(gpu) = sample.replays.map(u64::from));
    show!(PROCESSES(gpu) = sample.processes.map(u64::from));
    show!(PROCESS_MEMORY(gpu) = sample.own_memory);
    options(of, sample);
}

/// Sets the gauges that have a conventional name.
pub(super) fn gauges_with_two_names(of: Subject, sample: &Sample) {
    let Subject { gpu, names, .. } = of;
    let id = || of.id();
    // The conventions use fractions, Tracecast uses percent.
    let scale = if names == Names::Tracecast { 1.0 } else { 100.0 };
    let busy = |percent: Option<u32>| percent.map(|percent| f64::from(percent) / scale);
    let utilization = sample.utilization.map(|(of_gpu, _)| of_gpu);
    show_as!(names, UTILIZATION(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::General) = busy(utilization));
    show_as!(names, ENCODER(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::Encoder) = busy(sample.encoder));
    show_as!(names, DECODER(gpu), hw::UTILIZATION(id(), Component::Gpu, Task::Decoder) = busy(sample.decoder));
    let memory = sample.memory;
    show_as!(names, MEMORY_USED(gpu), hw::MEMORY_USAGE(id(), Component::Gpu) = memory.map(|memory| memory.used));
    show_as!(names, MEMORY_SIZE(gpu), hw::MEMORY_LIMIT(id(), Component::Gpu) = memory.map(|memory| memory.total));
    if names == Names::SemanticConventions {
        // Tracecast has no such metric: it is the quotient of the two above.
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

/// Sets the temperature thresholds, of which only some have a conventional name.
fn temperature_limits(of: Subject, sample: &Sample) {
    for ((limit, of_conventions), degrees) in LIMITS.into_iter().zip(sample.temperature_limits) {
        let degrees = degrees.map(f64::from);
        match of_conventions.filter(|_| of.names == Names::SemanticConventions) {
            Some((sensor, kind)) => show!(hw::TEMPERATURE_LIMIT(of.id(), Component::Gpu, sensor, kind) = degrees),
            None => show!(TEMPERATURE_LIMIT(of.gpu, limit) = degrees),
        }
    }
}

/// Sets gauges of errors and damage as the driver counts them, including those from before the monitor started.
fn wear(gpu: u32, wear: &Wear) {
    for (at, lifetime) in [Lifetime::Volatile, Lifetime::Aggregate].into_iter().enumerate() {
        for (severity, (errors, on_chip)) in SEVERITIES.into_iter().zip(wear.ecc[at].into_iter().zip(wear.sram[at])) {
            show!(ECC_REPORTED(gpu, severity, lifetime) = errors);
            show!(SRAM_REPORTED(gpu, severity, lifetime) = on_chip);
        }
    }
    show!(SRAM_EXCEEDED(gpu) = wear.sram_exceeded.map(u64::from));
    for (kind, rows) in ROWS.into_iter().zip(wear.remapped) {
        show!(REMAPPED_ROWS(gpu, kind) = rows);
    }
    for (cause, pages) in [Cause::SingleBit, Cause::DoubleBit].into_iter().zip(wear.retired) {
        show!(RETIRED(gpu, cause) = pages);
    }
    show!(RETIRED_PENDING(gpu) = wear.retired_pending);
    let wanted = wear.recovery_action.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    for (number, action) in ACTIONS.into_iter().enumerate() {
        show!(RECOVERY_ACTION(gpu, action) = wanted.map(|wanted| u64::from(wanted == number)));
    }
    show!(RECOVERY_ACTION(gpu, Action::Other) = wanted.map(|wanted| u64::from(wanted >= ACTIONS.len())));
}

/// Returns the values that are summarized over a window, in the units of the metrics: utilization, power, temperature, SM clock,
/// memory clock.
pub(crate) fn summarized(sample: &Sample) -> [Option<f64>; QUANTITIES] {
    let hertz = |megahertz: u32| f64::from(megahertz) * 1e6;
    [
        sample.utilization.map(|(of_gpu, _)| f64::from(of_gpu)),
        sample.power.map(|milliwatts| f64::from(milliwatts) / 1e3),
        sample.temperature.map(f64::from),
        sample.clock_sm.map(hertz),
        sample.clock_memory.map(hertz),
    ]
}

/// Sets the gauges of a window, which have no conventional names.
pub(crate) fn window(gpu: u32, spreads: &Spreads) {
    type Value = fn(Spread) -> f64;
    let statistics: [(Statistic, Value); 3] = [
        (Statistic::Minimum, |spread| spread.minimum),
        (Statistic::Mean, Spread::mean),
        (Statistic::Maximum, |spread| spread.maximum),
    ];
    for (statistic, value) in statistics {
        let [utilization, power, temperature, clock_sm, clock_memory] = spreads.map(|spread| spread.map(value));
        show!(UTILIZATION_WINDOW(gpu, statistic) = utilization);
        show!(POWER_WINDOW(gpu, statistic) = power);
        show!(TEMPERATURE_WINDOW(gpu, statistic) = temperature);
        show!(CLOCK_WINDOW(gpu, Clock::Sm, statistic) = clock_sm);
        show!(CLOCK_WINDOW(gpu, Clock::Memory, statistic) = clock_memory);
    }
}

/// Sets the gauges that `Config` can switch on or off.
fn options(of: Subject, sample: &Sample) {
    let (gpu, details) = (of.gpu, &sample.details);
    show!(FAN(gpu) = details.fan.map(f64::from));
    show!(PERFORMANCE_STATE(gpu) = details.performance_state.map(u64::from));
    show!(LINK_GENERATION(gpu) = details.link_generation.map(u64::from));
    show!(LINK_WIDTH(gpu) = details.link_width.map(u64::from));
    show!(LINKS(gpu) = sample.links.count);
    for (number, link) in (0_u32..).zip(&sample.links.each) {
        show!(LINK_UP(gpu, number) = link.state);
        for (kind, errors) in ONE_LINK_FAULTS.into_iter().zip(link.errors) {
            show!(LINK_REPORTED(gpu, number, kind) = errors);
        }
    }
    for (part, percent) in PARTS.into_iter().zip(sample.activity) {
        show!(ACTIVITY(gpu, part) = percent);
    }
}

/// Shows whether a GPU answers; clears the metric if `up` is `None`.
pub(crate) fn up(of: Subject, up: Option<bool>) {
    if of.names == Names::Tracecast {
        show!(UP(of.gpu) = up.map(u64::from));
        return;
    }
    for (state, holds) in [(Health::Ok, up), (Health::Failed, up.map(|up| !up))] {
        show!(hw::STATUS(of.id(), Component::Gpu, state) = holds.map(u64::from));
    }
}
