//! What a GPU answered, once.

use nvml_wrapper::bitmasks::device::ThrottleReasons;

/// MIG instances that a GPU can have.
pub(crate) const MOST_INSTANCES: usize = 8;
/// Kinds of errors of NVLink.
pub(crate) const LINK_ERRORS: usize = 4;
/// Parts of a GPU whose activity GPM knows.
pub(crate) const PARTS: usize = 8;

/// Memory in use and in all, and what the driver keeps. Where that is not known it is part of what is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) used: u64,
    pub(crate) total: u64,
    pub(crate) reserved: Option<u64>,
}

/// What a GPU answered. `None` is a gap. Units are NVML's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Of the GPU and of its memory, in percent.
    pub(crate) utilization: Option<(u32, u32)>,
    pub(crate) memory: Option<Memory>,
    pub(crate) instances: [Option<Memory>; MOST_INSTANCES],
    pub(crate) temperature: Option<u32>,
    pub(crate) memory_temperature: Option<u64>,
    /// In milliwatts.
    pub(crate) power: Option<u32>,
    pub(crate) power_limit: Option<u32>,
    /// In millijoules.
    pub(crate) energy: Option<u64>,
    /// In megahertz.
    pub(crate) clock_sm: Option<u32>,
    pub(crate) clock_memory: Option<u32>,
    pub(crate) throttle: Option<ThrottleReasons>,
    pub(crate) ecc_corrected: Option<u64>,
    pub(crate) ecc_uncorrected: Option<u64>,
    pub(crate) remapped: [Option<u64>; 4],
    pub(crate) replays: Option<u32>,
    pub(crate) processes: Option<u32>,
    /// Sent and received, in kilobytes per second.
    pub(crate) throughput: [Option<u32>; 2],
    pub(crate) details: Details,
    pub(crate) links: Links,
    /// In percent, by part.
    pub(crate) activity: [Option<f64>; PARTS],
}

/// What is asked only if somebody wants it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Details {
    /// In percent.
    pub(crate) encoder: Option<u32>,
    pub(crate) decoder: Option<u32>,
    pub(crate) fan: Option<u32>,
    pub(crate) performance_state: Option<u32>,
    pub(crate) link_generation: Option<u32>,
    pub(crate) link_width: Option<u32>,
}

/// All NVLinks of a GPU together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Links {
    pub(crate) count: Option<u64>,
    /// Sent and received, in kibibytes since some time.
    pub(crate) moved: [Option<u64>; 2],
    /// By kind, since some time.
    pub(crate) errors: [Option<u64>; LINK_ERRORS],
}
