//! The labels of the metrics: closed sets and bounded ones.

use tracecast::{TcLabel, tc_keys};

use crate::gpu::fault::Fault;
use crate::gpu::xids::Xid;

/// The most GPUs; further ones are left out, because they would share the label `other`.
pub(crate) const MOST_GPUS: u32 = 32;

/// A clock of a GPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Clock {
    Sm,
    Memory,
}

/// The reason for clocks below their maximum.
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

/// The severity of a memory error.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Severity {
    Corrected,
    Uncorrected,
}

pub(crate) const SEVERITIES: [Severity; 2] = [Severity::Corrected, Severity::Uncorrected];

/// The kind of a memory row remapping.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Remapped {
    Correctable,
    Uncorrectable,
    Pending,
    Failure,
}

/// The direction of transferred bytes.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Direction {
    Transmit,
    Receive,
}

/// An error of all NVLinks of a GPU together.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum LinkError {
    CrcFlit,
    CrcData,
    Replay,
    Recovery,
}

/// An error of one NVLink: the first three exist before Blackwell, the others from Blackwell on.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum OneLinkError {
    Replay,
    Recovery,
    Crc,
    Receive,
    LinkRecovery,
    Symbol,
}

/// The period of an error count: since the driver was loaded or the GPU was reset, or over the life of the GPU.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Lifetime {
    Volatile,
    Aggregate,
}

/// The reason for the retirement of a page.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Cause {
    SingleBit,
    DoubleBit,
}

/// The recovery action that the driver requires before the GPU is used again.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Action {
    Nothing,
    GpuReset,
    NodeReboot,
    DrainP2p,
    DrainAndReset,
    #[tc_label(other)]
    Other,
}

/// The reason for which the driver lowered clocks.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Violation {
    Power,
    Thermal,
    SyncBoost,
    BoardLimit,
    LowUtilization,
    Reliability,
}

/// A temperature threshold.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Limit {
    Shutdown,
    Slowdown,
    MemoryMaximum,
    GpuMaximum,
}

/// A summary of the samples of a window.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Statistic {
    Minimum,
    Mean,
    Maximum,
}

/// A part of a GPU whose activity is measured.
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

tc_keys! {
    /// The GPU, by a number that belongs to its UUID: the first index in NVML under which the process saw it, unless another
    /// GPU had that.
    pub(crate) label gpu: Index<32> = "gpu";
    /// The version of the driver.
    pub(crate) label driver: Interned<8> = "driver";
    /// The MIG instance, by its index on the GPU.
    // Not `instance`: Prometheus uses that label for its targets.
    pub(crate) label instance: Index<8> = "gpu_instance";
    /// An NVLink of the GPU.
    pub(crate) label link: Index<18> = "link";
    /// The time from which errors are counted.
    pub(crate) label lifetime: Lifetime = "lifetime";
    /// Why a page was retired.
    pub(crate) label cause: Cause = "cause";
    /// The action that the GPU needs.
    pub(crate) label action: Action = "action";
    /// Why clocks were lowered.
    pub(crate) label violation: Violation = "policy";
    /// A temperature at which something happens.
    pub(crate) label limit: Limit = "limit";
    /// A summary of the samples of a window.
    pub(crate) label statistic: Statistic = "statistic";
    /// The clock.
    pub(crate) label clock: Clock = "clock";
    /// Why clocks are throttled.
    pub(crate) label throttle: Throttle = "reason";
    /// The severity of an error.
    pub(crate) label severity: Severity = "severity";
    /// The state of a memory row.
    pub(crate) label remapped: Remapped = "kind";
    /// The direction of bytes.
    pub(crate) label direction: Direction = "direction";
    /// A part of the GPU.
    pub(crate) label part: Part = "part";
    /// The XID.
    pub(crate) label xid: Xid = "xid";
    /// The error that a driver call returned.
    pub(crate) label error: Fault = "error";
}

tc_keys! {
    /// Why there is no driver.
    pub(crate) label reason: Option<Fault> = "reason";
}

tc_keys! {
    /// The kind of link error.
    pub(crate) label link_error: LinkError = "kind";
}

tc_keys! {
    /// The kind of error of one link.
    pub(crate) label one_link_error: OneLinkError = "kind";
}
