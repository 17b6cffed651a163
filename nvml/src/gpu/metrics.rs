//! The GPU metrics with Tracecast's names.

use tracecast::tc_metrics;

pub(crate) use crate::gpu::labels::*;

tc_metrics! {
    /// Whether the GPU answers.
    pub(crate) static UP: Gauge<(gpu,), u64> = "tc_gpu_up";
    /// Whether the GPU sleeps; it is not asked then, and its values are absent.
    pub(crate) static ASLEEP: Gauge<(gpu,), u64> = "tc_gpu_asleep";
    /// 1 with the version of the driver.
    pub(crate) static DRIVER_INFO: Gauge<(driver,), u64> = "tc_nvml_driver_info";

    /// How much of the time the GPU was busy. Absent under MIG.
    pub(crate) static UTILIZATION: Gauge<(gpu,)> = "tc_gpu_utilization_percent";
    /// How much of the time its memory was read or written. Absent under MIG.
    pub(crate) static MEMORY_UTILIZATION: Gauge<(gpu,)> = "tc_gpu_memory_controller_utilization_percent";
    /// Memory in use.
    pub(crate) static MEMORY_USED: Gauge<(gpu,), u64> = "tc_gpu_memory_used_bytes";
    /// Total memory.
    pub(crate) static MEMORY_SIZE: Gauge<(gpu,), u64> = "tc_gpu_memory_size_bytes";
    /// Memory that the driver keeps for itself.
    pub(crate) static MEMORY_RESERVED: Gauge<(gpu,), u64> = "tc_gpu_memory_reserved_bytes";
    /// Memory in use in a MIG instance; part of that of its GPU.
    pub(crate) static INSTANCE_MEMORY_USED: Gauge<(gpu, instance), u64> = "tc_gpu_instance_memory_used_bytes";
    /// All memory of a MIG instance; part of that of its GPU.
    pub(crate) static INSTANCE_MEMORY_SIZE: Gauge<(gpu, instance), u64> = "tc_gpu_instance_memory_size_bytes";
    /// How busy a part of a MIG instance was since the last sample.
    pub(crate) static INSTANCE_ACTIVITY: Gauge<(gpu, instance, part)> = "tc_gpu_instance_activity_percent"
        { budget: 2400 };
    /// The temperature of the chip.
    pub(crate) static TEMPERATURE: Gauge<(gpu,)> = "tc_gpu_temperature_celsius";
    /// The temperature of its memory.
    pub(crate) static MEMORY_TEMPERATURE: Gauge<(gpu,)> = "tc_gpu_memory_temperature_celsius";
    /// Power draw.
    pub(crate) static POWER: Gauge<(gpu,)> = "tc_gpu_power_watts";
    /// Power limit.
    pub(crate) static POWER_LIMIT: Gauge<(gpu,)> = "tc_gpu_power_limit_watts";
    /// Energy used since the monitor started.
    pub(crate) static ENERGY: Counter<(gpu,), f64> = "tc_gpu_energy_joules_total";
    /// Clock frequency.
    pub(crate) static CLOCK: Gauge<(gpu, clock)> = "tc_gpu_clock_hertz";
    /// 1 if clocks are throttled, by reason.
    pub(crate) static THROTTLED: Gauge<(gpu, throttle), u64> = "tc_gpu_throttled";
    /// Memory errors since the monitor started.
    pub(crate) static ECC_ERRORS: Counter<(gpu, severity)> = "tc_gpu_ecc_errors_total";
    /// Memory errors as the driver counts them.
    pub(crate) static ECC_REPORTED: Gauge<(gpu, severity, lifetime), u64> = "tc_gpu_ecc_reported_errors";
    /// Errors of the memory on the chip, which are part of the memory errors, as the driver counts them.
    pub(crate) static SRAM_REPORTED: Gauge<(gpu, severity, lifetime), u64> = "tc_gpu_sram_ecc_reported_errors";
    /// 1 if the errors of the memory on the chip exceed the driver's threshold.
    pub(crate) static SRAM_EXCEEDED: Gauge<(gpu,), u64> = "tc_gpu_sram_ecc_threshold_exceeded";
    /// Pages of memory that were retired, on GPUs before Ampere.
    pub(crate) static RETIRED: Gauge<(gpu, cause), u64> = "tc_gpu_retired_pages";
    /// Whether pages are to be retired when the GPU is reset.
    pub(crate) static RETIRED_PENDING: Gauge<(gpu,), u64> = "tc_gpu_retired_pages_pending";
    /// 1 for the action that the driver requires before the GPU is used again.
    pub(crate) static RECOVERY_ACTION: Gauge<(gpu, action), u64> = "tc_gpu_recovery_action";
    /// Time for which the driver lowered clocks since the monitor started, by its reason.
    pub(crate) static VIOLATIONS: Counter<(gpu, violation), f64> = "tc_gpu_violation_seconds_total";
    /// Temperatures at which the GPU slows down or shuts down, and the maximum for operation.
    pub(crate) static TEMPERATURE_LIMIT: Gauge<(gpu, limit)> = "tc_gpu_temperature_limit_celsius";
    /// Utilization of the GPU over the window.
    pub(crate) static UTILIZATION_WINDOW: Gauge<(gpu, statistic)> = "tc_gpu_utilization_window_percent";
    /// The power that the GPU drew, over the window.
    pub(crate) static POWER_WINDOW: Gauge<(gpu, statistic)> = "tc_gpu_power_window_watts";
    /// The temperature of the chip, over the window.
    pub(crate) static TEMPERATURE_WINDOW: Gauge<(gpu, statistic)> = "tc_gpu_temperature_window_celsius";
    /// Clock frequency over the window.
    pub(crate) static CLOCK_WINDOW: Gauge<(gpu, clock, statistic)> = "tc_gpu_clock_window_hertz";
    /// Memory rows that were remapped, are pending, or could not be remapped.
    pub(crate) static REMAPPED_ROWS: Gauge<(gpu, remapped), u64> = "tc_gpu_remapped_rows";
    /// XIDs since the monitor started.
    pub(crate) static XIDS_SEEN: Counter<(gpu, xid)> = "tc_gpu_xid_errors_total";
    /// Time of the last XID, in seconds since 1970.
    pub(crate) static XID_TIME: Gauge<(gpu,)> = "tc_gpu_xid_last_timestamp_seconds";
    /// Repeated PCIe transfers since the monitor started.
    pub(crate) static REPLAYS: Counter<(gpu,)> = "tc_gpu_pcie_replays_total";
    /// Repeated PCIe transfers as the driver counts them.
    pub(crate) static REPLAYS_REPORTED: Gauge<(gpu,), u64> = "tc_gpu_pcie_reported_replays";
    /// Bytes over PCIe since the monitor started; estimated from their rate at each sample if the driver does not count them.
    pub(crate) static PCIE_BYTES: Counter<(gpu, direction), f64> = "tc_gpu_pcie_bytes_total";
    /// Memory of the GPU that this process uses.
    pub(crate) static PROCESS_MEMORY: Gauge<(gpu,), u64> = "tc_gpu_process_memory_bytes";
    /// Processes with a compute context on the GPU.
    pub(crate) static PROCESSES: Gauge<(gpu,), u64> = "tc_gpu_compute_processes";

    /// How much of the time the video encoder was busy.
    pub(crate) static ENCODER: Gauge<(gpu,)> = "tc_gpu_encoder_utilization_percent";
    /// How much of the time the video decoder was busy.
    pub(crate) static DECODER: Gauge<(gpu,)> = "tc_gpu_decoder_utilization_percent";
    /// Speed of the first fan, in percent of its maximum.
    pub(crate) static FAN: Gauge<(gpu,)> = "tc_gpu_fan_speed_percent";
    /// The performance state: 0 is the fastest, 15 the slowest.
    pub(crate) static PERFORMANCE_STATE: Gauge<(gpu,), u64> = "tc_gpu_performance_state";
    /// The generation of PCIe that its link runs at now.
    pub(crate) static LINK_GENERATION: Gauge<(gpu,), u64> = "tc_gpu_pcie_link_generation";
    /// The lanes that its link uses now.
    pub(crate) static LINK_WIDTH: Gauge<(gpu,), u64> = "tc_gpu_pcie_link_width";
    /// Links to other GPUs.
    pub(crate) static LINKS: Gauge<(gpu,), u64> = "tc_gpu_nvlink_links";
    /// Bytes over all links since the monitor started.
    pub(crate) static LINK_BYTES: Counter<(gpu, direction)> = "tc_gpu_nvlink_bytes_total";
    /// Errors of all links since the monitor started.
    pub(crate) static LINK_ERRORS: Counter<(gpu, link_error)> = "tc_gpu_nvlink_errors_total";
    /// Whether a link is up.
    pub(crate) static LINK_UP: Gauge<(gpu, link), u64> = "tc_gpu_nvlink_up";
    /// Errors of a link as the driver counts them.
    pub(crate) static LINK_REPORTED: Gauge<(gpu, link, one_link_error), u64> = "tc_gpu_nvlink_reported_errors"
        { budget: 4000 };
    /// How busy a part of the GPU was since the last sample.
    pub(crate) static ACTIVITY: Gauge<(gpu, part)> = "tc_gpu_activity_percent";

    /// 1 if the driver is available; otherwise 0, with the reason.
    pub(crate) static AVAILABLE: Gauge<(reason,), u64> = "tc_nvml_available";
    /// Age of the GPU's values.
    pub(crate) static SAMPLE_AGE: Gauge<(gpu,)> = "tc_gpu_sample_age_seconds";
    /// How long a driver call for the GPU has not returned; 0 if none is pending.
    pub(crate) static STUCK: Gauge<(gpu,)> = "tc_nvml_call_stuck_seconds";
    /// Duration of one sample of the GPU.
    pub(crate) static SAMPLE_DURATION: Gauge<(gpu,)> = "tc_nvml_sample_duration_seconds";
    /// Driver calls that failed.
    pub(crate) static ERRORS: Counter<(error,)> = "tc_nvml_errors_total";
}
