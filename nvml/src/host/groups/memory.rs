//! Swap space and page faults.

use std::path::Path;

use super::metrics::*;
use crate::held::{Held, parsed};
use crate::host::parse;
use crate::names::{Names, add_as, show_as};
use crate::total::Total;

pub(super) struct Swap {
    meminfo: Option<Held>,
    vmstat: Option<Held>,
    swapped: [Total; 2],
}

impl Swap {
    pub(super) fn open(root: &Path) -> Self {
        let [meminfo, vmstat] = ["proc/meminfo", "proc/vmstat"].map(|file| Held::open(&root.join(file)));
        Swap { meminfo, vmstat, swapped: Default::default() }
    }

    pub(super) fn sample(&mut self, names: Names) {
        show(names, parsed(&mut self.meminfo, |text| Some(swap(text))).unwrap_or_default());
        let pages = |text: &str| Some(["pswpin", "pswpout"].map(|key| parse::number(text, key)));
        let pages = parsed(&mut self.vmstat, pages).unwrap_or_default();
        for ((way, pages), total) in [Swapped::In, Swapped::Out].into_iter().zip(pages).zip(&mut self.swapped) {
            if let Some(pages) = pages {
                SWAPPED_PAGES.add(total.advance_to(pages), (way,));
            }
        }
    }

    pub(super) fn clear(names: Names) {
        show(names, [None; 2]);
    }
}

/// Returns used and free bytes.
fn swap(meminfo: &str) -> [Option<u64>; 2] {
    let [size, free] = ["SwapTotal", "SwapFree"].map(|key| parse::bytes(meminfo, key));
    [size.zip(free).and_then(|(size, free)| size.checked_sub(free)), free]
}

fn show(names: Names, bytes: [Option<u64>; 2]) {
    for (state, bytes) in [Paging::Used, Paging::Free].into_iter().zip(bytes) {
        show_as!(names, SWAP_USAGE(state) = bytes);
    }
}

pub(super) struct PageFaults {
    vmstat: Option<Held>,
    stat: Option<Held>,
    machine: [Total; 2],
    process: [Total; 2],
}

impl PageFaults {
    pub(super) fn open(root: &Path) -> Self {
        let [vmstat, stat] = ["proc/vmstat", "proc/self/stat"].map(|file| Held::open(&root.join(file)));
        PageFaults { vmstat, stat, machine: Default::default(), process: Default::default() }
    }

    pub(super) fn sample(&mut self, names: Names) {
        let machine = parsed(&mut self.vmstat, machine_faults).unwrap_or_default();
        let process = parsed(&mut self.stat, process_faults).unwrap_or_default();
        for (at, kind) in [Fault::Minor, Fault::Major].into_iter().enumerate() {
            if let Some(faults) = machine[at] {
                add_as!(names, PAGE_FAULTS(kind) += self.machine[at].advance_to(faults));
            }
            if let Some(faults) = process[at] {
                add_as!(names, PROCESS_PAGE_FAULTS(kind) += self.process[at].advance_to(faults));
            }
        }
    }
}

/// Returns minor and major faults. The kernel counts all faults, and the major ones.
fn machine_faults(vmstat: &str) -> Option<[Option<u64>; 2]> {
    let [all, major] = ["pgfault", "pgmajfault"].map(|key| parse::number(vmstat, key));
    Some([all.zip(major).and_then(|(all, major)| all.checked_sub(major)), major])
}

/// Returns minor and major faults of this process, for which the kernel counts each kind.
fn process_faults(stat: &str) -> Option<[Option<u64>; 2]> {
    let (_, rest) = stat.strip_suffix('\n')?.rsplit_once(')')?;
    let mut columns = rest.split_whitespace().skip(7);
    let minor = columns.next()?.parse().ok();
    Some([minor, columns.nth(1)?.parse().ok()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_used_or_free() {
        let text = "SwapCached: 9 kB\nSwapTotal: 100 kB\nSwapFree: 30 kB\n";
        assert_eq!(swap(text), [Some(70 * 1024), Some(30 * 1024)]);
        assert_eq!((swap(""), swap("SwapTotal: 10 kB\nSwapFree: 30 kB\n")[0]), ([None; 2], None));
    }

    #[test]
    fn faults_are_minor_or_major() {
        assert_eq!(machine_faults("pgfault 100\npgmajfault 7\n"), Some([Some(93), Some(7)]));
        assert_eq!(process_faults("1 (a) b) S 1 2 3 4 5 6 70 8 9 10 250 150 0\n"), Some([Some(70), Some(9)]));
        assert_eq!(process_faults("1 (a) S 1"), None);
    }
}
