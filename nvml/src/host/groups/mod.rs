//! Optional groups of machine metrics.
//!
//! Each enabled group reads its own files and sets its metrics; a disabled group opens no files.

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
use crate::host_group::HostGroup;
use crate::names::Names;

/// The enabled groups.
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

    /// Clears all gauges.
    pub(super) fn clear(&mut self, names: Names) {
        self.filesystem.iter_mut().for_each(|group| group.clear(names));
        self.load.iter().for_each(|_| Load::clear());
        self.swap.iter().for_each(|_| Swap::clear(names));
    }
}
