//! Disk metrics from `/proc/diskstats`, as in node_exporter: without partitions, loop devices, RAM disks and floppy disks.

use std::path::Path;

use tracecast::InternedKey;

use super::devices::Devices;
use super::metrics::*;
use crate::held::Held;
use crate::names::{Names, add_as};

/// The sector size in which the kernel counts, independent of the disk.
const SECTOR: u64 = 512;

/// Operations, sectors and milliseconds of reads, then of writes, and the milliseconds for which the disk was busy.
type Counts = [u64; 7];

pub(super) struct Disk {
    file: Option<Held>,
    devices: Devices<7>,
}

impl Disk {
    pub(super) fn open(root: &Path) -> Self {
        Disk { file: Held::open(&root.join("proc/diskstats")), devices: Devices::new() }
    }

    pub(super) fn sample(&mut self, names: Names) {
        let Some(text) = self.file.as_mut().and_then(Held::read) else { return };
        self.devices.begin();
        for (name, counts) in disks(&text) {
            let Some([reads, read, read_time, writes, written, write_time, busy]) = self.devices.advance(name, counts)
            else {
                continue;
            };
            let (ours, theirs) = (device::intern(name), system_device::intern(name));
            let both = [(Operation::Read, reads, read, read_time), (Operation::Write, writes, written, write_time)];
            for (what, operations, sectors, millis) in both {
                let (bytes, seconds) = (sectors.saturating_mul(SECTOR), millis as f64 / 1e3);
                add_as!(names, ours::DISK_BYTES(ours, what), conventional::DISK_BYTES(theirs, what) += bytes);
                add_as!(
                    names,
                    ours::DISK_OPERATIONS(ours, what),
                    conventional::DISK_OPERATIONS(theirs, what) += operations
                );
                add_as!(
                    names,
                    ours::DISK_OPERATION_TIME(ours, what),
                    conventional::DISK_OPERATION_TIME(theirs, what) += seconds
                );
            }
            add_as!(names, ours::DISK_BUSY(ours), conventional::DISK_BUSY(theirs) += busy as f64 / 1e3);
        }
        self.devices.end();
    }
}

/// Parses `254 0 vda 100 1 2000 30 200 2 4000 60 0 80 90`. A line without a line break is truncated and ignored.
fn disks(text: &str) -> impl Iterator<Item = (&str, Counts)> {
    text.split_inclusive('\n').filter_map(|line| {
        let mut columns = line.strip_suffix('\n')?.split_whitespace().skip(2);
        let name = columns.next().filter(|name| is_disk(name))?;
        let mut counts = [0; 10];
        for count in &mut counts {
            *count = columns.next()?.parse().ok()?;
        }
        let [reads, _, read, read_time, writes, _, written, write_time, _, busy] = counts;
        Some((name, [reads, read, read_time, writes, written, write_time, busy]))
    })
}

/// Returns whether the device is a disk, not a partition, loop device, RAM disk or floppy disk.
fn is_disk(name: &str) -> bool {
    let without_number = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if without_number == name {
        return true;
    }
    let is_letter_of = |kind: &str| {
        let letters = without_number.strip_prefix(kind);
        letters.is_some_and(|letters| !letters.is_empty() && letters.bytes().all(|c| c.is_ascii_lowercase()))
    };
    let is_virtual = matches!(without_number, "ram" | "zram" | "loop" | "fd");
    // `sda1`, `vdb2`; `nvme0n1p1`, `mmcblk0p1`.
    let is_partition = ["sd", "hd", "vd", "xvd"].into_iter().any(is_letter_of)
        || without_number.strip_suffix('p').is_some_and(|disk| disk.ends_with(|c: char| c.is_ascii_digit()));
    !is_virtual && !is_partition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_told_from_their_partitions() {
        for name in ["sda", "vda", "xvdf", "nvme0n1", "nvme12n1", "dm-0", "md127", "mmcblk0", "sr0", "pmem0"] {
            assert!(is_disk(name), "{name}");
        }
        for name in ["sda1", "vdb12", "xvda1", "nvme0n1p1", "mmcblk0p2", "loop7", "ram0", "zram0", "fd0"] {
            assert!(!is_disk(name), "{name}");
        }
    }

    #[test]
    fn a_disk_has_seven_counts() {
        let text = " 254 0 vda 100 1 2000 30 200 2 4000 60 0 80 90 1 2 3 4\n 254 1 vda1 1 1 1 1 1 1 1 1 1 1 1\n \
            8 0 sda 1 2 3\n 8 16 sdb 1 2 3 4 5 6 7 8 9 10 11";
        assert_eq!(disks(text).collect::<Vec<_>>(), [("vda", [100, 2000, 30, 200, 4000, 60, 80])]);
    }
}
