//! A sample as values of metrics.

use nvml_wrapper::bitmasks::device::ThrottleReasons;

use crate::metrics::*;
use crate::sample::Sample;
use crate::total::Total;

/// Counts of one GPU, over all generations of the driver.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    energy: Total,
    ecc_corrected: Total,
    ecc_uncorrected: Total,
    replays: Total,
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

/// Sets a gauge, or leaves a gap.
macro_rules! show {
    ($gauge:ident($($label:expr),+) = $value:expr) => {
        match $value {
            Some(value) => $gauge.set(value, ($($label,)+)),
            None => $gauge.clear(($($label,)+)),
        }
    };
}

/// Sets all gauges of a GPU. The empty sample makes all of them gaps.
pub(crate) fn gauges(gpu: u32, sample: &Sample) {
    show!(UTILIZATION(gpu) = sample.utilization.map(|(of_gpu, _)| f64::from(of_gpu)));
    show!(MEMORY_UTILIZATION(gpu) = sample.utilization.map(|(_, of_memory)| f64::from(of_memory)));
    show!(MEMORY_USED(gpu) = sample.memory.map(|memory| memory.used));
    show!(MEMORY_SIZE(gpu) = sample.memory.map(|memory| memory.total));
    show!(MEMORY_RESERVED(gpu) = sample.memory.map(|memory| memory.reserved));
    for (instance, memory) in (0_u32..).zip(sample.instances) {
        show!(INSTANCE_MEMORY_USED(gpu, instance) = memory.map(|memory| memory.used));
        show!(INSTANCE_MEMORY_SIZE(gpu, instance) = memory.map(|memory| memory.total));
    }
    show!(TEMPERATURE(gpu) = sample.temperature.map(f64::from));
    show!(MEMORY_TEMPERATURE(gpu) = sample.memory_temperature.map(|degrees| degrees as f64));
    show!(POWER(gpu) = sample.power.map(|milliwatts| f64::from(milliwatts) / 1e3));
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
    let details = &sample.details;
    show!(ENCODER(gpu) = details.encoder.map(f64::from));
    show!(DECODER(gpu) = details.decoder.map(f64::from));
    show!(FAN(gpu) = details.fan.map(f64::from));
    show!(PERFORMANCE_STATE(gpu) = details.performance_state.map(u64::from));
    show!(LINK_GENERATION(gpu) = details.link_generation.map(u64::from));
    show!(LINK_WIDTH(gpu) = details.link_width.map(u64::from));
    for (direction, kilobytes) in [Direction::Transmit, Direction::Receive].into_iter().zip(sample.throughput) {
        show!(PCIE_THROUGHPUT(gpu, direction) = kilobytes.map(|kilobytes| f64::from(kilobytes) * 1e3));
    }
}

/// Adds to the counters of a GPU what came since the last sample.
pub(crate) fn counters(gpu: u32, sample: &Sample, totals: &mut Totals) {
    if let Some(millijoules) = sample.energy {
        ENERGY.add(totals.energy.advance(millijoules) as f64 / 1e3, (gpu,));
    }
    if let Some(errors) = sample.ecc_corrected {
        ECC_ERRORS.add(totals.ecc_corrected.advance(errors), (gpu, Severity::Corrected));
    }
    if let Some(errors) = sample.ecc_uncorrected {
        ECC_ERRORS.add(totals.ecc_uncorrected.advance(errors), (gpu, Severity::Uncorrected));
    }
    if let Some(replays) = sample.replays {
        REPLAYS.add(totals.replays.advance(u64::from(replays)), (gpu,));
    }
}
