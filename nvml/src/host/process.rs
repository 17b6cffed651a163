//! The state of this process.

use std::path::{Path, PathBuf};

use super::parse;
use crate::held::{Held, parsed};

/// The most open files that are counted one by one, on kernels without a count: each takes a microsecond or more.
const MOST_COUNTED: usize = 10_000;

/// A reading of the process. `None` is a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    pub(super) resident: Option<u64>,
    pub(super) virtual_size: Option<u64>,
    pub(super) threads: Option<u64>,
    pub(super) files: Option<u64>,
    pub(super) most_files: Option<u64>,
    /// CPU time in user and in system mode, in clock ticks.
    pub(super) cpu_ticks: [Option<u64>; 2],
}

pub(super) struct Process {
    stat: Option<Held>,
    status: Option<Held>,
    limits: Option<Held>,
    open_files: PathBuf,
}

impl Process {
    /// Opens the files below `root`.
    pub(super) fn open(root: &Path) -> Self {
        let own = root.join("proc/self");
        Process {
            stat: Held::open(&own.join("stat")),
            status: Held::open(&own.join("status")),
            limits: Held::open(&own.join("limits")),
            open_files: own.join("fd"),
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        self.stat.is_none() && self.status.is_none()
    }

    pub(super) fn read(&mut self) -> State {
        let (resident, virtual_size, threads) = self.read_memory();
        State {
            resident,
            virtual_size,
            threads,
            files: self.count_files(),
            most_files: parsed(&mut self.limits, parse::most_files),
            cpu_ticks: self.read_cpu(),
        }
    }

    pub(super) fn read_cpu(&mut self) -> [Option<u64>; 2] {
        parsed(&mut self.stat, parse::process_ticks).map_or([None; 2], |(user, system)| [Some(user), Some(system)])
    }

    /// Returns resident memory, address space and threads.
    pub(super) fn read_memory(&mut self) -> (Option<u64>, Option<u64>, Option<u64>) {
        let all = |text: &str| {
            let [resident, virtual_size] = ["VmRSS", "VmSize"].map(|key| parse::bytes(text, key));
            Some((resident, virtual_size, parse::number(text, "Threads")))
        };
        parsed(&mut self.status, all).unwrap_or_default()
    }

    /// Returns the number of open files; `None` if they cannot be counted or are too many to count.
    pub(super) fn count_files(&self) -> Option<u64> {
        // Since Linux 6.2 the size of the directory is the number of files; before that it is 0.
        let size = std::fs::metadata(&self.open_files).ok()?.len();
        if size > 0 { Some(size) } else { count(&self.open_files, MOST_COUNTED) }
    }
}

/// Counts the files in the directory, without the descriptor used to list it; `None` if there are more than `most`.
fn count(folder: &Path, most: usize) -> Option<u64> {
    let count = std::fs::read_dir(folder).ok()?.take(most + 2).count().checked_sub(1)?;
    (count <= most).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn both_ways_to_count_files_agree() {
        let process = Process::open(Path::new("/"));
        // Other tests in this process open and close files concurrently.
        let agree = || process.count_files().is_some() && process.count_files() == count(&process.open_files, 100_000);
        assert!((0..10_000).any(|_| agree()), "{:?}", (process.count_files(), count(&process.open_files, 100_000)));
    }

    #[test]
    fn counting_ends_somewhere() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/host");
        let all = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(count(&folder, all), Some(all as u64 - 1));
        assert_eq!(count(&folder, all - 1), Some(all as u64 - 1));
        assert_eq!(count(&folder, all - 2), None);
        assert_eq!(count(&folder.join("nowhere"), 10), None);
    }
}
