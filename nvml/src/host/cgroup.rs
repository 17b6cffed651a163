//! The cgroup that this process is in: what it uses, and what it may use.
//!
//! Each controller is of version 1 or 2. Limits of the cgroups above count as well, as far as they can be seen.

use std::path::{Path, PathBuf};

use super::parse;
use crate::held::{Held, parsed};

/// What a container uses. `None` is a gap: it is not known, or there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) memory: Option<u64>,
    /// Memory in use without files that were not read of late: what Kubernetes compares with the limit.
    pub(super) working_set: Option<u64>,
    pub(super) memory_limit: Option<u64>,
    pub(super) cpu_nanos: Option<u64>,
    /// How many CPUs it may use.
    pub(super) cpu_quota: Option<f64>,
    pub(super) periods: Option<u64>,
    pub(super) throttled_periods: Option<u64>,
    pub(super) throttled_nanos: Option<u64>,
}

#[derive(Default)]
pub(super) struct Cgroup {
    memory: Option<Memory>,
    cpu: Option<Cpu>,
}

struct Memory {
    usage: Option<Held>,
    stat: Option<Held>,
    /// Its own and those above.
    limits: Vec<Held>,
    is_v1: bool,
}

enum Cpu {
    V1 { usage: Option<Held>, stat: Option<Held>, quotas: Vec<(Held, Held)> },
    V2 { stat: Option<Held>, quotas: Vec<Held> },
}

impl Cgroup {
    /// Finds the cgroup of this process, in the file system below `root`.
    pub(super) fn open(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let mount = root.join("sys/fs/cgroup");
        Cgroup { memory: Memory::open(&mount, &text), cpu: Cpu::open(&mount, &text) }
    }

    pub(super) fn read(&mut self) -> Usage {
        let mut usage = Usage::default();
        if let Some(memory) = &mut self.memory {
            memory.read(&mut usage);
        }
        if let Some(cpu) = &mut self.cpu {
            cpu.read(&mut usage);
        }
        usage
    }
}

impl Memory {
    fn open(mount: &Path, text: &str) -> Option<Self> {
        let v1 = parse::cgroup(text, "memory");
        let is_v1 = v1.is_some();
        let path = v1.or_else(|| parse::cgroup(text, ""))?;
        let folders = folders(&if is_v1 { mount.join("memory") } else { mount.to_owned() }, path);
        let [of_usage, of_limit] =
            if is_v1 { ["memory.usage_in_bytes", "memory.limit_in_bytes"] } else { ["memory.current", "memory.max"] };
        let own = folders.first()?;
        let mut memory = Memory {
            usage: Held::open(&own.join(of_usage)),
            stat: Held::open(&own.join("memory.stat")),
            limits: folders.iter().filter_map(|folder| Held::open(&folder.join(of_limit))).collect(),
            is_v1,
        };
        // The root of v1 is the whole machine; that of v2 has no such files.
        (!is_v1 || path != "/" || memory.limit().is_some()).then_some(memory)
    }

    fn limit(&mut self) -> Option<u64> {
        let parse = if self.is_v1 { parse::limit_v1 } else { parse::limit };
        self.limits.iter_mut().filter_map(|file| parse(&file.read()?)).min()
    }

    fn read(&mut self, usage: &mut Usage) {
        usage.memory = parsed(&mut self.usage, parse::only);
        let key = if self.is_v1 { "total_inactive_file" } else { "inactive_file" };
        let inactive = parsed(&mut self.stat, |text| parse::number(text, key));
        usage.working_set = usage.memory.zip(inactive).map(|(memory, inactive)| memory.saturating_sub(inactive));
        usage.memory_limit = self.limit();
    }
}

impl Cpu {
    fn open(mount: &Path, text: &str) -> Option<Self> {
        if let Some(path) = parse::cgroup(text, "cpu") {
            return Self::open_v1(mount, text, path);
        }
        let folders = folders(mount, parse::cgroup(text, "")?);
        let quotas: Vec<_> = folders.iter().filter_map(|folder| Held::open(&folder.join("cpu.max"))).collect();
        // The root has none; what it uses is what the machine uses.
        if quotas.is_empty() {
            return None;
        }
        Some(Cpu::V2 { stat: Held::open(&folders.first()?.join("cpu.stat")), quotas })
    }

    fn open_v1(mount: &Path, text: &str, path: &str) -> Option<Self> {
        // It is mounted under both names, or a link says so.
        let of = |name: &str| [mount.join(name), mount.join("cpu,cpuacct")].into_iter().find(|path| path.is_dir());
        let folders_of_cpu = folders(&of("cpu")?, path);
        let quota = |folder: &PathBuf| {
            Some((Held::open(&folder.join("cpu.cfs_quota_us"))?, Held::open(&folder.join("cpu.cfs_period_us"))?))
        };
        let mut quotas: Vec<_> = folders_of_cpu.iter().filter_map(quota).collect();
        if path == "/" && least_v1(&mut quotas).is_none() {
            return None;
        }
        let of_usage = of("cpuacct").zip(parse::cgroup(text, "cpuacct"));
        let usage =
            of_usage.and_then(|(mount, path)| Held::open(&folders(&mount, path).first()?.join("cpuacct.usage")));
        Some(Cpu::V1 { usage, stat: Held::open(&folders_of_cpu.first()?.join("cpu.stat")), quotas })
    }

    fn read(&mut self, usage: &mut Usage) {
        let (stat, time, scale) = match self {
            Cpu::V1 { usage: file, stat, quotas } => {
                usage.cpu_nanos = parsed(file, parse::only);
                usage.cpu_quota = least_v1(quotas);
                (stat, "throttled_time", 1)
            }
            Cpu::V2 { stat, quotas } => {
                let micros = parsed(stat, |text| parse::number(text, "usage_usec"));
                usage.cpu_nanos = micros.and_then(|micros| micros.checked_mul(1000));
                usage.cpu_quota = quotas.iter_mut().filter_map(|file| parse::quota(&file.read()?)).reduce(f64::min);
                (stat, "throttled_usec", 1000)
            }
        };
        usage.periods = parsed(stat, |text| parse::number(text, "nr_periods"));
        usage.throttled_periods = parsed(stat, |text| parse::number(text, "nr_throttled"));
        usage.throttled_nanos = parsed(stat, |text| parse::number(text, time)?.checked_mul(scale));
    }
}

fn least_v1(quotas: &mut [(Held, Held)]) -> Option<f64> {
    let each = quotas.iter_mut().filter_map(|(quota, period)| parse::quota_v1(&quota.read()?, &period.read()?));
    each.reduce(f64::min)
}

/// The folder of a cgroup and those above it, up to the mount. A container may see its own as the mount, under a path of
/// the host that does not exist in it.
fn folders(mount: &Path, path: &str) -> Vec<PathBuf> {
    let own = mount.join(path.trim_start_matches('/'));
    if path.contains("..") || !own.is_dir() {
        return vec![mount.to_owned()];
    }
    own.ancestors().take_while(|folder| folder.starts_with(mount)).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Usage {
        Cgroup::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name)).read()
    }

    #[test]
    fn a_container_of_v2_has_the_least_limits_of_those_above_it() {
        let expected = Usage {
            memory: Some(5_000_000),
            working_set: Some(3_800_000),
            memory_limit: Some(8_000_000),
            cpu_nanos: Some(7_000_000_000),
            cpu_quota: Some(1.5),
            periods: Some(100),
            throttled_periods: Some(25),
            throttled_nanos: Some(1_500_000_000),
        };
        assert_eq!(read("written-cgroup-v2"), expected);
    }

    #[test]
    fn a_service_of_v1_has_memory_and_the_root_is_no_container() {
        let expected =
            Usage { memory: Some(395_071_488), working_set: Some(395_071_488 - 233_242_624), ..Usage::default() };
        assert_eq!(read("linux-6.18-cgroup-v1"), expected);
    }

    #[test]
    fn a_path_of_the_host_is_the_mount_in_a_container() {
        let mount = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/written-cgroup-v2/sys/fs/cgroup");
        assert_eq!(folders(&mount, "/kubepods/pod1/abc"), [mount.as_path()]);
        assert_eq!(folders(&mount, "/../.."), [mount.as_path()]);
        assert_eq!(folders(&mount, "/pod/container").len(), 3);
    }

    #[test]
    fn where_there_are_no_files_nothing_is_known() {
        assert_eq!(read("nowhere"), Usage::default());
    }
}
