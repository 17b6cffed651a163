//! Groups of metrics of the machine that are measured if a program asks for them.
//!
//! Each group reads files of its own and shows what it read; one that is not asked for opens none.

mod cpus;
mod devices;
mod disk;
mod filesystem;
mod memory;
mod metrics;
mod network;

use std::path::Path;

use self::cpus::{Load, PerCpu};
use self::disk::Disk;
use self::filesystem::Filesystem;
use self::memory::{PageFaults, Swap};
use self::network::Network;
use crate::names::Names;

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

/// The groups that were asked for.
#[derive(Default)]
pub(super) struct Groups {
    network: Option<Network>,
    disk: Option<Disk>,
    filesystem: Option<Filesystem>,
    load: Option<Load>,
    swap: Option<Swap>,
    per_cpu: Option<PerCpu>,
    page_faults: Option<PageFaults>,
}

impl Groups {
    /// Opens the files below `root`.
    pub(super) fn open(root: &Path, wanted: &[HostGroup]) -> Self {
        let mut groups = Groups::default();
        for group in wanted {
            match group {
                HostGroup::Network => groups.network = Some(Network::open(root)),
                HostGroup::Disk => groups.disk = Some(Disk::open(root)),
                HostGroup::Filesystem => groups.filesystem = Some(Filesystem::open(root)),
                HostGroup::Load => groups.load = Some(Load::open(root)),
                HostGroup::Swap => groups.swap = Some(Swap::open(root)),
                HostGroup::PerCpu => groups.per_cpu = Some(PerCpu::open(root)),
                HostGroup::PageFaults => groups.page_faults = Some(PageFaults::open(root)),
            }
        }
        groups
    }

    pub(super) fn sample(&mut self, names: Names) {
        self.network.iter_mut().for_each(|group| group.sample(names));
        self.disk.iter_mut().for_each(|group| group.sample(names));
        self.filesystem.iter_mut().for_each(|group| group.sample(names));
        self.load.iter_mut().for_each(Load::sample);
        self.swap.iter_mut().for_each(|group| group.sample(names));
        self.per_cpu.iter_mut().for_each(PerCpu::sample);
        self.page_faults.iter_mut().for_each(|group| group.sample(names));
    }

    /// Makes all gauges gaps.
    pub(super) fn clear(&mut self, names: Names) {
        self.filesystem.iter_mut().for_each(|group| group.clear(names));
        self.load.iter().for_each(|_| Load::clear());
        self.swap.iter().for_each(|_| Swap::clear(names));
    }
}
