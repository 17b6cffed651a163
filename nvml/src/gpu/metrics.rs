//! The metrics and their labels.

use tracecast::{Label, TcLabel, tc_keys, tc_metrics};

use crate::gpu::fault::Fault;

/// GPUs past this are left out: they would share the label `other`.
pub(crate) const MOST_GPUS: u32 = 32;

/// A clock of a GPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Clock {
    Sm,
    Memory,
}

/// Why clocks are lower than they could be.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Throttle {
    Idle,
    ApplicationClocks,
    PowerCap,
    HardwareSlowdown,
    SyncBoost,
    ThermalSlowdown,
    HardwareThermalSlowdown,
    PowerBrake,
    DisplayClocks,
}

/// How bad a memory error is.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Severity {
    Corrected,
    Uncorrected,
}

/// What became of rows of memory.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Remapped {
    Correctable,
    Uncorrectable,
    Pending,
    Failure,
}

/// Which way bytes go.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Direction {
    Transmit,
    Receive,
}

/// What can be wrong with a link.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum LinkError {
    CrcFlit,
    CrcData,
    Replay,
    Recovery,
}

/// A part of a GPU that is busy or not.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Part {
    Graphics,
    Sm,
    SmOccupancy,
    Tensor,
    Dram,
    Fp64,
    Fp32,
    Fp16,
}

/// The XIDs that have a series of their own: those that NVIDIA's documentation tells operators to act on.
const XIDS: [u64; 28] = [
    8, 13, 31, 32, 38, 43, 44, 45, 48, 61, 62, 63, 64, 68, 69, 74, 79, 92, 94, 95, 109, 119, 120, 121, 122, 123, 140,
    149,
];

/// An XID, or `other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Xid(usize);

impl Xid {
    pub(crate) fn new(number: u64) -> Self {
        Xid(XIDS.iter().position(|known| *known == number).unwrap_or(XIDS.len()))
    }
}

impl Label for Xid {
    const CARDINALITY: usize = XIDS.len() + 1;

    fn ordinal(self) -> usize {
        self.0
    }

    fn value(ordinal: usize) -> std::borrow::Cow<'static, str> {
        XIDS.get(ordinal).map_or("other".into(), |number| number.to_string().into())
    }
}

tc_keys! {
    /// The GPU, by a number that belongs to its UUID: the first index in NVML under which the process saw it, unless another
    /// GPU had that.
    pub(crate) label gpu: Index<32> = "gpu";
    /// The GPU's index in NVML now.
    pub(crate) label index: Index<32> = "index";
    /// Its identifier.
    pub(crate) label uuid: Interned<32> = "uuid";
    /// Its product name.
    pub(crate) label model: Interned<8> = "name";
    /// Its place on the PCI bus.
    pub(crate) label pci: Interned<32> = "pci_bus_id";
    /// The version of the driver.
    pub(crate) label driver: Interned<8> = "driver";
    /// The MIG instance, by its index on the GPU.
    // Not `instance`: Prometheus calls what it scrapes so.
    pub(crate) label instance: Index<8> = "gpu_instance";
    /// The clock.
    pub(crate) label clock: Clock = "clock";
    /// Why clocks are held down.
    pub(crate) label throttle: Throttle = "reason";
    /// How bad an error is.
    pub(crate) label severity: Severity = "severity";
    /// What became of a row.
    pub(crate) label remapped: Remapped = "kind";
    /// Which way bytes go.
    pub(crate) label direction: Direction = "direction";
    /// A part of the GPU.
    pub(crate) label part: Part = "part";
    /// The XID.
    pub(crate) label xid: Xid = "xid";
    /// What a call of the driver returned.
    pub(crate) label error: Fault = "error";
}

tc_keys! {
    /// Why there is no driver.
    pub(crate) label reason: Option<Fault> = "reason";
}

tc_keys! {
    /// What is wrong with a link.
    pub(crate) label link_error: LinkError = "kind";
}

tc_metrics! {
    /// Whether the GPU answers.
    pub(crate) static UP: Gauge<(gpu,), u64> = "tc_gpu_up";
    /// Whether the GPU sleeps; it is not asked then, and its values are absent.
    pub(crate) static ASLEEP: Gauge<(gpu,), u64> = "tc_gpu_asleep";
    /// 1 with the identifier of the GPU.
    pub(crate) static INFO: Gauge<(gpu, uuid), u64> = "tc_gpu_info";
    /// 1 with the product name of the GPU.
    pub(crate) static MODEL_INFO: Gauge<(gpu, model), u64> = "tc_gpu_model_info";
    /// 1 with the GPU's place on the PCI bus.
    pub(crate) static PCI_INFO: Gauge<(gpu, pci), u64> = "tc_gpu_pci_info";
    /// 1 with the index that the driver has for the GPU now.
    pub(crate) static INDEX_INFO: Gauge<(gpu, index), u64> = "tc_gpu_index_info";
    /// 1 with the version of the driver.
    pub(crate) static DRIVER_INFO: Gauge<(driver,), u64> = "tc_nvml_driver_info";

    /// How much of the time the GPU was busy. Absent under MIG.
    pub(crate) static UTILIZATION: Gauge<(gpu,)> = "tc_gpu_utilization_percent";
    /// How much of the time its memory was read or written. Absent under MIG.
    pub(crate) static MEMORY_UTILIZATION: Gauge<(gpu,)> = "tc_gpu_memory_controller_utilization_percent";
    /// Memory in use.
    pub(crate) static MEMORY_USED: Gauge<(gpu,), u64> = "tc_gpu_memory_used_bytes";
    /// All of its memory.
    pub(crate) static MEMORY_SIZE: Gauge<(gpu,), u64> = "tc_gpu_memory_size_bytes";
    /// Memory that the driver keeps for itself.
    pub(crate) static MEMORY_RESERVED: Gauge<(gpu,), u64> = "tc_gpu_memory_reserved_bytes";
    /// Memory in use in a MIG instance; part of that of its GPU.
    pub(crate) static INSTANCE_MEMORY_USED: Gauge<(gpu, instance), u64> = "tc_gpu_instance_memory_used_bytes";
    /// All memory of a MIG instance; part of that of its GPU.
    pub(crate) static INSTANCE_MEMORY_SIZE: Gauge<(gpu, instance), u64> = "tc_gpu_instance_memory_size_bytes";
    /// The temperature of the chip.
    pub(crate) static TEMPERATURE: Gauge<(gpu,)> = "tc_gpu_temperature_celsius";
    /// The temperature of its memory.
    pub(crate) static MEMORY_TEMPERATURE: Gauge<(gpu,)> = "tc_gpu_memory_temperature_celsius";
    /// What it draws.
    pub(crate) static POWER: Gauge<(gpu,)> = "tc_gpu_power_watts";
    /// What it may draw.
    pub(crate) static POWER_LIMIT: Gauge<(gpu,)> = "tc_gpu_power_limit_watts";
    /// What it used since the monitor started.
    pub(crate) static ENERGY: Counter<(gpu,), f64> = "tc_gpu_energy_joules_total";
    /// How fast a clock runs.
    pub(crate) static CLOCK: Gauge<(gpu, clock)> = "tc_gpu_clock_hertz";
    /// Whether clocks are held down, by reason.
    pub(crate) static THROTTLED: Gauge<(gpu, throttle), u64> = "tc_gpu_throttled";
    /// Memory errors since the monitor started.
    pub(crate) static ECC_ERRORS: Counter<(gpu, severity)> = "tc_gpu_ecc_errors_total";
    /// Rows of memory that were replaced, or are to be, or could not be.
    pub(crate) static REMAPPED_ROWS: Gauge<(gpu, remapped), u64> = "tc_gpu_remapped_rows";
    /// XIDs since the monitor started.
    pub(crate) static XIDS_SEEN: Counter<(gpu, xid)> = "tc_gpu_xid_errors_total";
    /// When the last XID came, in seconds since 1970.
    pub(crate) static XID_TIME: Gauge<(gpu,)> = "tc_gpu_xid_last_timestamp_seconds";
    /// Repeated PCIe transfers since the monitor started.
    pub(crate) static REPLAYS: Counter<(gpu,)> = "tc_gpu_pcie_replays_total";
    /// Processes that compute on it.
    pub(crate) static PROCESSES: Gauge<(gpu,), u64> = "tc_gpu_compute_processes";
    /// Traffic over PCIe.
    pub(crate) static PCIE_THROUGHPUT: Gauge<(gpu, direction)> = "tc_gpu_pcie_throughput_bytes_per_second";

    /// How much of the time the video encoder was busy.
    pub(crate) static ENCODER: Gauge<(gpu,)> = "tc_gpu_encoder_utilization_percent";
    /// How much of the time the video decoder was busy.
    pub(crate) static DECODER: Gauge<(gpu,)> = "tc_gpu_decoder_utilization_percent";
    /// How fast the first fan runs, of what it can.
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
    /// How busy a part of the GPU was since the last sample.
    pub(crate) static ACTIVITY: Gauge<(gpu, part)> = "tc_gpu_activity_percent";

    /// Whether there is a driver; if not, why.
    pub(crate) static AVAILABLE: Gauge<(reason,), u64> = "tc_nvml_available";
    /// How old the values of the GPU are.
    pub(crate) static SAMPLE_AGE: Gauge<(gpu,)> = "tc_gpu_sample_age_seconds";
    /// How long calls for the GPU have not come back; 0 if they have.
    pub(crate) static STUCK: Gauge<(gpu,)> = "tc_nvml_call_stuck_seconds";
    /// How long it took to ask the GPU everything.
    pub(crate) static SAMPLE_DURATION: Gauge<(gpu,)> = "tc_nvml_sample_duration_seconds";
    /// Calls that failed.
    pub(crate) static ERRORS: Counter<(error,)> = "tc_nvml_errors_total";
}
