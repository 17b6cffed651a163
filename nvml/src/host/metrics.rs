//! The metrics of the host, the process and the container, with Tracecast's and with conventional names.

use tracecast::{TcLabel, tc_keys, tc_metrics};

/// The mode in which CPUs spend time.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Mode {
    User,
    Nice,
    System,
    Idle,
    Iowait,
    Interrupt,
    Steal,
}

/// The mode in which a process uses a CPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum ProcessMode {
    User,
    System,
}

/// The use of the machine's memory.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Kind {
    Used,
    Free,
    Buffers,
    Cached,
}

/// The resource for which tasks wait.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Resource {
    Cpu,
    Memory,
    Io,
}

/// The tasks that wait: some, or all.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Stalled {
    Some,
    Full,
}

tc_keys! {
    /// The mode of a CPU.
    pub(super) label mode: Mode = "mode";
    /// The use of memory.
    pub(super) label state: Kind = "state";
    /// The resource for which tasks wait.
    pub(super) label resource: Resource = "resource";
    /// Whether some or all tasks wait.
    pub(super) label stalled: Stalled = "stalled";
    /// The mode of a CPU, in the conventions.
    pub(super) label cpu_mode: Mode = "cpu.mode";
    /// The use of memory, in the conventions.
    pub(super) label memory_state: Kind = "system.memory.state";
}

tc_keys! {
    /// The CPU mode of the process.
    pub(super) label process_mode: ProcessMode = "mode";
    /// The CPU mode of the process, in the conventions.
    pub(super) label process_cpu_mode: ProcessMode = "cpu.mode";
}

/// Declares metrics with a Tracecast name and a conventional one. The conventions' up-down counters are gauges here, because a
/// sum cannot have a gap.
macro_rules! two_names {
    ($(
        $(#[doc = $doc:tt])+
        $metric:ident: $kind:ident<$number:ident> =
            $ours:tt($($our_label:ident),*), $theirs:tt($($their_label:ident),*) in $unit:tt;
    )+) => {
        /// The metrics with Tracecast's names.
        pub(super) mod ours {
            use super::*;

            tc_metrics! {$(
                $(#[doc = $doc])+
                pub(in crate::host) static $metric: $kind<($($our_label,)*), $number> = $ours;
            )+}
        }

        /// The metrics with conventional names.
        pub(super) mod conventional {
            use super::*;

            tc_metrics! {$(
                $(#[doc = $doc])+
                pub(in crate::host) static $metric: $kind<($($their_label,)*), $number> = $theirs { unit: $unit };
            )+}
        }
    };
}

pub(super) use two_names;

two_names! {
    /// Time of all CPUs of the machine since the monitor started.
    SYSTEM_CPU: Counter<f64> = "tc_system_cpu_seconds_total"(mode), "system.cpu.time"(cpu_mode) in "s";
    /// Fraction of the time since the last sample that CPUs spent in each mode.
    SYSTEM_CPU_SHARE: Gauge<f64> =
        "tc_system_cpu_utilization_ratio"(mode), "system.cpu.utilization"(cpu_mode) in "1";
    /// CPUs of the machine.
    SYSTEM_CPUS: Gauge<u64> = "tc_system_cpus"(), "system.cpu.logical.count"() in "{cpu}";
    /// Memory of the machine.
    SYSTEM_MEMORY: Gauge<u64> = "tc_system_memory_size_bytes"(), "system.memory.limit"() in "By";
    /// Memory of the machine, by use. Memory that is not available without swapping counts as used; some of it is cached, too.
    SYSTEM_MEMORY_USAGE: Gauge<u64> =
        "tc_system_memory_usage_bytes"(state), "system.memory.usage"(memory_state) in "By";
    /// Memory of the machine that is available without swapping.
    SYSTEM_AVAILABLE: Gauge<u64> =
        "tc_system_memory_available_bytes"(), "system.memory.linux.available"() in "By";

    /// Memory of this process that is in RAM.
    PROCESS_RESIDENT: Gauge<u64> = "tc_process_memory_resident_bytes"(), "process.memory.usage"() in "By";
    /// Address space of this process.
    PROCESS_VIRTUAL: Gauge<u64> = "tc_process_memory_virtual_bytes"(), "process.memory.virtual"() in "By";
    /// CPU time of this process since the monitor started.
    PROCESS_CPU: Counter<f64> =
        "tc_process_cpu_seconds_total"(process_mode), "process.cpu.time"(process_cpu_mode) in "s";
    /// Threads of this process.
    PROCESS_THREADS: Gauge<u64> = "tc_process_threads"(), "process.thread.count"() in "{thread}";
    /// Open file descriptors of this process.
    PROCESS_FILES: Gauge<u64> =
        "tc_process_open_files"(), "process.unix.file_descriptor.count"() in "{file_descriptor}";

    /// Memory that the container uses, including its file cache.
    CONTAINER_MEMORY: Gauge<u64> = "tc_container_memory_usage_bytes"(), "container.memory.usage"() in "By";
    /// Memory that the container uses, without inactive file cache.
    CONTAINER_WORKING_SET: Gauge<u64> =
        "tc_container_memory_working_set_bytes"(), "container.memory.working_set"() in "By";
    /// Memory that the container may still use: its limit without its working set; absent if there is no limit.
    CONTAINER_AVAILABLE: Gauge<u64> =
        "tc_container_memory_available_bytes"(), "container.memory.available"() in "By";
    /// CPU time of the container since the monitor started.
    CONTAINER_CPU: Counter<f64> = "tc_container_cpu_seconds_total"(), "container.cpu.time"() in "s";
    /// Number of CPUs that the container used since the last sample.
    CONTAINER_CPU_USAGE: Gauge<f64> = "tc_container_cpu_usage"(), "container.cpu.usage"() in "{cpu}";
}

// These metrics have no conventional names.
tc_metrics! {
    /// Time for which tasks of the machine waited for a resource, since the monitor started.
    pub(super) static SYSTEM_PRESSURE: Counter<(resource, stalled), f64> = "tc_system_pressure_seconds_total";
    /// File descriptors that this process may have open; absent if there is no limit.
    pub(super) static PROCESS_MOST_FILES: Gauge<(), u64> = "tc_process_open_files_limit";
    /// Memory that the container may use; absent if there is no limit.
    pub(super) static CONTAINER_MEMORY_LIMIT: Gauge<(), u64> = "tc_container_memory_limit_bytes";
    /// Processes of the container that were killed for lack of memory, since the monitor started.
    pub(super) static CONTAINER_OOM_KILLS: Counter = "tc_container_oom_kills_total";
    /// CPUs that the container may use; absent if there is no limit.
    pub(super) static CONTAINER_QUOTA: Gauge = "tc_container_cpu_limit";
    /// How much of its CPUs the container used since the last sample; absent if there is no limit.
    pub(super) static CONTAINER_QUOTA_USED: Gauge = "tc_container_cpu_limit_utilization_ratio";
    /// Periods of its quota in which the container ran, since the monitor started.
    pub(super) static CONTAINER_PERIODS: Counter = "tc_container_cpu_periods_total";
    /// Periods in which the container was held back, since the monitor started.
    pub(super) static CONTAINER_THROTTLED_PERIODS: Counter = "tc_container_cpu_throttled_periods_total";
    /// Time for which the container was held back, since the monitor started.
    pub(super) static CONTAINER_THROTTLED: Counter<(), f64> = "tc_container_cpu_throttled_seconds_total";
    /// Time for which tasks of the container waited for a resource, since the monitor started.
    pub(super) static CONTAINER_PRESSURE: Counter<(resource, stalled), f64> = "tc_container_pressure_seconds_total";
}
