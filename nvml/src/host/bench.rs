//! Manual readings of the host, for tests and for the example that measures their cost. Not public API: it changes without
//! notice.

use std::path::Path;

use super::Host;
use super::groups::Groups;
use crate::host_group::HostGroup;
use crate::names::Names;

/// A named part of a sample.
pub type Part = (&'static str, fn(&mut HostReader));

/// All files of a sample, held open.
pub struct HostReader(Host, Groups);

impl std::fmt::Debug for HostReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostReader").finish_non_exhaustive()
    }
}

impl HostReader {
    /// The parts of a sample.
    pub const PARTS: [Part; 8] = [
        ("host CPU", |reader| keep(reader.0.machine.read_cpu())),
        ("host memory", |reader| keep(reader.0.machine.read_memory())),
        ("the whole host, with pressure", |reader| keep(reader.0.machine.read())),
        ("process CPU", |reader| keep(reader.0.process.read_cpu())),
        ("process memory and threads", |reader| keep(reader.0.process.read_memory())),
        ("open files", |reader| keep(reader.0.process.count_files())),
        ("the whole process", |reader| keep(reader.0.process.read())),
        ("container", |reader| keep(reader.0.cgroup.read())),
    ];

    /// Opens the files below `root`.
    pub fn open(root: &Path) -> Self {
        HostReader(Host::open(root), Groups::default())
    }

    /// Also reads these groups of metrics.
    #[must_use]
    pub fn with_groups(self, root: &Path, groups: &[HostGroup]) -> Self {
        HostReader(self.0, Groups::open(root, groups))
    }

    /// Reads all files and sets the metrics.
    pub fn sample(&mut self, names: Names) {
        self.0.sample(names);
        self.1.sample(names);
    }
}

/// Keeps the compiler from optimizing the reading away.
fn keep<T>(value: T) {
    std::hint::black_box(value);
}
