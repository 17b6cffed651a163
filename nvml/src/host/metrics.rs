//! The metrics of the host, the process and the container.

use tracecast::{TcLabel, tc_keys, tc_metrics};

/// What CPUs do.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum Mode {
    User,
    Nice,
    System,
    Idle,
    Iowait,
    Irq,
    Softirq,
    Steal,
}

/// What a process does on a CPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(super) enum ProcessMode {
    User,
    System,
}

tc_keys! {
    /// What CPUs do.
    pub(super) label mode: Mode = "mode";
}

tc_keys! {
    /// What the process does.
    pub(super) label process_mode: ProcessMode = "mode";
}

tc_metrics! {
    /// Time of all CPUs of the machine since the monitor started.
    pub(super) static SYSTEM_CPU: Counter<(mode,), f64> = "tc_system_cpu_seconds_total";
    /// CPUs of the machine.
    pub(super) static SYSTEM_CPUS: Gauge<(), u64> = "tc_system_cpus";
    /// Memory of the machine.
    pub(super) static SYSTEM_MEMORY: Gauge<(), u64> = "tc_system_memory_size_bytes";
    /// Memory of the machine that can be had without swapping.
    pub(super) static SYSTEM_AVAILABLE: Gauge<(), u64> = "tc_system_memory_available_bytes";

    /// Memory of this process that is in RAM.
    pub(super) static PROCESS_RESIDENT: Gauge<(), u64> = "tc_process_memory_resident_bytes";
    /// Address space of this process.
    pub(super) static PROCESS_VIRTUAL: Gauge<(), u64> = "tc_process_memory_virtual_bytes";
    /// CPU time of this process since the monitor started.
    pub(super) static PROCESS_CPU: Counter<(process_mode,), f64> = "tc_process_cpu_seconds_total";
    /// Threads of this process.
    pub(super) static PROCESS_THREADS: Gauge<(), u64> = "tc_process_threads";
    /// Open file descriptors of this process.
    pub(super) static PROCESS_FILES: Gauge<(), u64> = "tc_process_open_files";

    /// Memory that the container uses, with all files that are cached for it.
    pub(super) static CONTAINER_MEMORY: Gauge<(), u64> = "tc_container_memory_usage_bytes";
    /// Memory that the container uses, without files that were not read of late.
    pub(super) static CONTAINER_WORKING_SET: Gauge<(), u64> = "tc_container_memory_working_set_bytes";
    /// Memory that the container may use; absent if there is no limit.
    pub(super) static CONTAINER_MEMORY_LIMIT: Gauge<(), u64> = "tc_container_memory_limit_bytes";
    /// CPU time of the container since the monitor started.
    pub(super) static CONTAINER_CPU: Counter<(), f64> = "tc_container_cpu_seconds_total";
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
}
