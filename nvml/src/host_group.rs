//! What of the machine is measured only if a program asks for it.

/// Metrics of the machine that are measured if a program asks for them; see
/// [`Config::with_host_groups`](crate::Config::with_host_groups).
///
/// ```
/// use tracecast_nvml::{Config, HostGroup};
///
/// let config = Config::default().with_host_groups([HostGroup::Network, HostGroup::Disk]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostGroup {
    /// Bytes, packets, errors and dropped packets of each network interface, without those of containers (`veth..`).
    Network,
    /// Bytes, operations and their times of each disk, without partitions.
    Disk,
    /// Used, free and reserved bytes of each local file system.
    Filesystem,
    /// The load averages.
    Load,
    /// Swap space, and pages that were swapped.
    Swap,
    /// Time of each CPU by mode.
    PerCpu,
    /// Page faults of the machine and of this process.
    PageFaults,
}
