//! Optional groups of machine metrics.

/// An optional group of machine metrics; see [`Config::with_host_groups`](crate::Config::with_host_groups).
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
    /// Bytes, operations, operation time and busy time of each disk, without partitions, loop devices and RAM disks.
    Disk,
    /// Used, free and reserved bytes of each local file system.
    Filesystem,
    /// Load averages.
    Load,
    /// Swap space and swapped pages.
    Swap,
    /// CPU time of each CPU, by mode.
    PerCpu,
    /// Page faults of the machine and of this process.
    PageFaults,
}
