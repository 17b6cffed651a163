//! A GPU and its newest sample, for the program.

use std::time::Duration;

use crate::gpu::sample::Sample;

/// A GPU and its newest sample; see [`Monitor::gpus`](crate::Monitor::gpus).
///
/// A value is `None` if its metric is absent: the GPU does not support it, does not answer or is suspended. No value is older
/// than three intervals.
///
/// ```
/// use tracecast_nvml::{Gpu, GpuState};
///
/// fn free_bytes(gpu: &Gpu) -> Option<u64> {
///     Some(gpu.memory_size_bytes? - gpu.memory_used_bytes?)
/// }
///
/// let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
/// let gpus = monitor.gpus();
/// let roomiest = gpus.iter().filter(|gpu| gpu.state == GpuState::Up).max_by_key(|gpu| free_bytes(gpu));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gpu {
    /// The GPU, as in the label `gpu` of its metrics.
    pub gpu: u32,
    /// The GPU's current index in the driver; `None` while the driver does not list the GPU.
    pub index: Option<u32>,
    /// The UUID; `None` until the GPU has answered once.
    pub uuid: Option<String>,
    /// The product name.
    pub model: Option<String>,
    /// The PCI bus id.
    pub pci_bus_id: Option<String>,
    /// The state of the GPU.
    pub state: GpuState,
    /// The age of the newest sample, even if its values are absent by now; `None` before the first sample.
    pub age: Option<Duration>,
    /// The share of time in which the GPU was busy.
    pub utilization_percent: Option<f64>,
    /// Memory in use.
    pub memory_used_bytes: Option<u64>,
    /// All memory.
    pub memory_size_bytes: Option<u64>,
    /// The temperature of the chip.
    pub temperature_celsius: Option<f64>,
    /// The temperature of the memory.
    pub memory_temperature_celsius: Option<f64>,
    /// The power draw.
    pub power_watts: Option<f64>,
    /// The enforced power limit.
    pub power_limit_watts: Option<f64>,
    /// The clock of the streaming multiprocessors.
    pub clock_sm_hertz: Option<f64>,
    /// The clock of the memory.
    pub clock_memory_hertz: Option<f64>,
    /// Processes that compute on the GPU.
    pub compute_processes: Option<u32>,
    /// Memory of the GPU that this process uses; `None` if the driver does not list this process.
    pub process_memory_bytes: Option<u64>,
}

/// The state of a GPU.
///
/// ```
/// let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
/// let healthy = monitor.gpus().iter().all(|gpu| gpu.state != tracecast_nvml::GpuState::Lost);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuState {
    /// The GPU has not been sampled yet.
    Starting,
    /// The GPU answers.
    Up,
    /// The GPU is suspended. It is not queried, because that would wake it.
    Asleep,
    /// A driver call for the GPU has not returned for three intervals.
    Hung,
    /// The driver refuses calls for the GPU.
    Lost,
}

/// The identity of a GPU, as the driver reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) uuid: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) pci_bus_id: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) driver: Option<String>,
}

impl Gpu {
    pub(crate) fn new(
        (gpu, index): (u32, Option<u32>),
        of: Description,
        state: GpuState,
        age: Option<Duration>,
        sample: &Sample,
    ) -> Self {
        let watts = |milliwatts: u32| f64::from(milliwatts) / 1e3;
        let hertz = |megahertz: u32| f64::from(megahertz) * 1e6;
        Gpu {
            gpu,
            index,
            uuid: of.uuid,
            model: of.model,
            pci_bus_id: of.pci_bus_id,
            state,
            age,
            utilization_percent: sample.utilization.map(|(of_gpu, _)| f64::from(of_gpu)),
            memory_used_bytes: sample.memory.map(|memory| memory.used),
            memory_size_bytes: sample.memory.map(|memory| memory.total),
            temperature_celsius: sample.temperature.map(f64::from),
            memory_temperature_celsius: sample.memory_temperature.map(|degrees| degrees as f64),
            power_watts: sample.power.map(watts),
            power_limit_watts: sample.power_limit.map(watts),
            clock_sm_hertz: sample.clock_sm.map(hertz),
            clock_memory_hertz: sample.clock_memory.map(hertz),
            compute_processes: sample.processes,
            process_memory_bytes: sample.own_memory,
        }
    }
}
