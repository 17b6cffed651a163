//! A sample as values of metrics.

use std::time::Duration;

use nvml_wrapper::bitmasks::device::ThrottleReasons;

use crate::gpu::conventional::{self as hw, Component, ErrorType, Health, STATUS};
use crate::gpu::metrics::*;
use crate::gpu::sample::{self, Links, Sample};
use crate::gpu::table::{self, Subject};
use crate::total::Total;

/// Counts of one GPU, over all generations of the driver.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    named: [Total; table::COUNTERS.len()],
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
pub(crate) fn gauges(of: Subject, sample: &Sample) {
    table::GAUGES.iter().for_each(|row| row.show(of, sample));
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
    if of.id.is_none() {
        for (direction, kilobytes) in DIRECTIONS.into_iter().zip(sample.throughput) {
            show!(PCIE_THROUGHPUT(gpu, direction) = kilobytes.map(|kilobytes| f64::from(kilobytes) * 1e3));
        }
    }
}

/// Adds to the counters of a GPU what came since the last sample, which was `since` ago; 0 if it is not the one before.
pub(crate) fn counters(of: Subject, sample: &Sample, totals: &mut Totals, since: Duration) {
    for (row, total) in table::COUNTERS.iter().zip(&mut totals.named) {
        if let Some(reading) = (row.reading)(sample) {
            row.add(of, total.advance(reading));
        }
    }
    if let Some(replays) = sample.replays {
        REPLAYS.add(totals.replays.advance(u64::from(replays)), (of.gpu,));
    }
    links(of.gpu, &sample.links, totals);
    if let Some(id) = of.id {
        for (direction, kilobytes) in DIRECTIONS.into_iter().zip(sample.throughput) {
            let Some(kilobytes) = kilobytes else { continue };
            hw::IO.add(f64::from(kilobytes) * 1e3 * since.as_secs_f64(), (id, Component::Gpu, direction));
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
    let Some(id) = of.id else {
        show!(UP(of.gpu) = up.map(u64::from));
        return;
    };
    for (state, holds) in [(Health::Ok, up), (Health::Failed, up.map(|up| !up))] {
        show!(STATUS(id, Component::Gpu, state) = holds.map(u64::from));
    }
}

/// Counts an XID.
pub(crate) fn xid(of: Subject, xid: Xid) {
    match of.id {
        None => XIDS_SEEN.add(1_u64, (of.gpu, xid)),
        Some(id) => hw::ERRORS.add(1_u64, (id, Component::Gpu, ErrorType::Xid(xid))),
    }
}
