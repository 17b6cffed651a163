//! Sets the metrics of the host from a reading.

use super::metrics::*;
use super::parse::MODES;
use super::pressure::Stalls;
use super::{Reading, TICKS};
use crate::names::{Names, add_as, show, show_as};
use crate::total::Total;

pub(super) const ALL_MODES: [Mode; MODES] =
    [Mode::User, Mode::Nice, Mode::System, Mode::Idle, Mode::Iowait, Mode::Interrupt, Mode::Steal];
const PROCESS_MODES: [ProcessMode; 2] = [ProcessMode::User, ProcessMode::System];
const KINDS: [Kind; 4] = [Kind::Used, Kind::Free, Kind::Buffers, Kind::Cached];
const RESOURCES: [Resource; 3] = [Resource::Cpu, Resource::Memory, Resource::Io];

/// The last readings of the kernel's counts.
#[derive(Default)]
pub(super) struct Totals {
    system: [Total; MODES],
    system_stalls: [[Total; 2]; 3],
    process: [Total; 2],
    /// The counts of one cgroup; reset when the process moves to another cgroup, whose counts are unrelated.
    pub(super) container: ContainerTotals,
}

#[derive(Default)]
pub(super) struct ContainerTotals {
    oom_kills: Total,
    cpu: Total,
    periods: Total,
    throttled_periods: Total,
    throttled: Total,
    stalls: [[Total; 2]; 3],
}

/// Sets all gauges. An empty reading makes all of them gaps.
pub(super) fn gauges(names: Names, reading: &Reading) {
    let machine = &reading.machine;
    for (mode, share) in ALL_MODES.into_iter().zip(machine.cpu_shares) {
        show_as!(names, SYSTEM_CPU_SHARE(mode) = share);
    }
    for (kind, bytes) in KINDS.into_iter().zip(machine.kinds) {
        show_as!(names, SYSTEM_MEMORY_USAGE(kind) = bytes);
    }
    show_as!(names, SYSTEM_CPUS() = machine.cpus);
    show_as!(names, SYSTEM_MEMORY() = machine.memory);
    show_as!(names, SYSTEM_AVAILABLE() = machine.available);

    let process = &reading.process;
    show_as!(names, PROCESS_RESIDENT() = process.resident);
    show_as!(names, PROCESS_VIRTUAL() = process.virtual_size);
    show_as!(names, PROCESS_THREADS() = process.threads);
    show_as!(names, PROCESS_FILES() = process.files);
    show!(PROCESS_MOST_FILES() = process.most_files);

    let container = &reading.container;
    show_as!(names, CONTAINER_MEMORY() = container.memory);
    show_as!(names, CONTAINER_WORKING_SET() = container.working_set);
    show_as!(names, CONTAINER_AVAILABLE() = container.available());
    show_as!(names, CONTAINER_CPU_USAGE() = reading.cpus_used);
    show!(CONTAINER_MEMORY_LIMIT() = container.memory_limit);
    show!(CONTAINER_QUOTA() = container.cpu_quota);
    show!(CONTAINER_QUOTA_USED() = reading.quota_used());
}

/// Adds the increase since the last reading to the counters. The kernel's counts never restart, but some, such as `iowait`,
/// occasionally decrease a little.
pub(super) fn counters(names: Names, reading: &Reading, totals: &mut Totals) {
    for ((ticks, total), mode) in reading.machine.cpu_ticks.into_iter().zip(&mut totals.system).zip(ALL_MODES) {
        if let Some(ticks) = ticks {
            add_as!(names, SYSTEM_CPU(mode) += total.advance_to(ticks) as f64 / TICKS);
        }
    }
    for ((ticks, total), mode) in reading.process.cpu_ticks.into_iter().zip(&mut totals.process).zip(PROCESS_MODES) {
        if let Some(ticks) = ticks {
            add_as!(names, PROCESS_CPU(mode) += total.advance_to(ticks) as f64 / TICKS);
        }
    }
    let container = &reading.container;
    if let Some(nanos) = container.cpu_nanos {
        add_as!(names, CONTAINER_CPU() += totals.container.cpu.advance_to(nanos) as f64 / 1e9);
    }
    if let Some(kills) = container.oom_kills {
        CONTAINER_OOM_KILLS.add(totals.container.oom_kills.advance_to(kills), ());
    }
    if let Some(periods) = container.periods {
        CONTAINER_PERIODS.add(totals.container.periods.advance_to(periods), ());
    }
    if let Some(periods) = container.throttled_periods {
        CONTAINER_THROTTLED_PERIODS.add(totals.container.throttled_periods.advance_to(periods), ());
    }
    if let Some(nanos) = container.throttled_nanos {
        CONTAINER_THROTTLED.add(totals.container.throttled.advance_to(nanos) as f64 / 1e9, ());
    }
    stalls(&reading.machine.stalls, &mut totals.system_stalls, |seconds, who| SYSTEM_PRESSURE.add(seconds, who));
    stalls(&container.stalls, &mut totals.container.stalls, |seconds, who| CONTAINER_PRESSURE.add(seconds, who));
}

fn stalls(stalls: &Stalls, totals: &mut [[Total; 2]; 3], add: impl Fn(f64, (Resource, Stalled))) {
    for ((micros, totals), resource) in stalls.iter().zip(totals).zip(RESOURCES) {
        for ((micros, total), stalled) in micros.iter().zip(totals).zip([Stalled::Some, Stalled::Full]) {
            if let Some(micros) = micros {
                add(total.advance_to(*micros) as f64 / 1e6, (resource, stalled));
            }
        }
    }
}
