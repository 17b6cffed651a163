//! The resource usage and limits of this process's cgroup.
//!
//! Each controller belongs to cgroup version 1 or 2. Limits of parent cgroups count too: those that are visible, and
//! the memory limit of invisible parents in version 1.

use std::path::{Path, PathBuf};

use super::mounts::{self, Mount, Mounts};
use super::parse;
use super::pressure::{Pressure, Stalls};
use super::quota::{self, Quota};
use crate::held::{Held, parsed};

/// The resource usage and limits of a container. `None` is a gap: the value is unknown, or there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) memory: Option<u64>,
    /// Memory in use without inactive file pages, which Kubernetes compares with the limit.
    pub(super) working_set: Option<u64>,
    pub(super) memory_limit: Option<u64>,
    pub(super) oom_kills: Option<u64>,
    pub(super) cpu_nanos: Option<u64>,
    /// The CPU limit, in CPUs.
    pub(super) cpu_quota: Option<f64>,
    pub(super) periods: Option<u64>,
    pub(super) throttled_periods: Option<u64>,
    pub(super) throttled_nanos: Option<u64>,
    pub(super) stalls: Stalls,
}

impl Usage {
    /// Returns the memory limit minus the working set; `None` if one of them is unknown or there is no limit.
    pub(super) fn available(&self) -> Option<u64> {
        Some(self.memory_limit?.saturating_sub(self.working_set?))
    }
}

pub(super) struct Cgroup {
    root: PathBuf,
    /// The file with the cgroups of the process, and its text when the cgroup's files were opened.
    membership: Option<Held>,
    opened: String,
    memory: Option<Memory>,
    cpu: Option<Cpu>,
    pressure: Pressure,
}

impl Cgroup {
    /// Opens the files of this process's cgroup, in the file system below `root`.
    pub(super) fn open(root: &Path) -> Self {
        let mut membership = Held::open(&root.join("proc/self/cgroup"));
        let opened = parsed(&mut membership, |text| Some(text.to_owned())).unwrap_or_default();
        let mountinfo = std::fs::read(root.join("proc/self/mountinfo")).ok();
        let mountinfo = mountinfo.as_deref().map(String::from_utf8_lossy);
        let find = Finder { membership: &opened, mounts: Mounts { root, text: mountinfo.as_deref() } };
        let (memory, cpu) = (Memory::open(&find), Cpu::open(&find));
        let own = find.v2().filter(|place| !place.is_root).and_then(|place| place.folders.into_iter().next());
        let pressure = own.map(|folder| Pressure::open(&folder, ".pressure")).unwrap_or_default();
        Cgroup { root: root.to_owned(), membership, opened, memory, cpu, pressure }
    }

    pub(super) fn is_absent(&self) -> bool {
        self.memory.is_none() && self.cpu.is_none() && self.pressure.is_absent()
    }

    /// Returns the usage, and whether the process is in another cgroup than at the last reading.
    pub(super) fn read(&mut self) -> (Usage, bool) {
        let opened = self.opened.as_str();
        let is_another = parsed(&mut self.membership, |text| Some(text != opened)) == Some(true);
        if is_another {
            *self = Cgroup::open(&self.root);
        }
        let mut usage = Usage { stalls: self.pressure.read(), ..Usage::default() };
        if let Some(memory) = &mut self.memory {
            memory.read(&mut usage);
        }
        if let Some(cpu) = &mut self.cpu {
            cpu.read(&mut usage);
        }
        (usage, is_another)
    }
}

/// The directories of this process's cgroup, for one controller.
struct Place {
    is_v1: bool,
    /// Whether the cgroup is the machine's root cgroup. In version 1 this may also be a container's cgroup, which looks
    /// the same.
    is_root: bool,
    /// The cgroup's directory, then its parents, up to the mount point.
    folders: Vec<PathBuf>,
}

impl Place {
    /// Opens a file of each cgroup. The topmost may lack it, because the root cgroup has no limits; if another one lacks it, the
    /// result is `None`.
    fn each<T>(&self, open: impl Fn(&Path) -> Option<T>) -> Option<Vec<T>> {
        let mut files: Vec<_> = self.folders.iter().map(|folder| open(folder)).collect();
        files.pop_if(|top| top.is_none());
        files.into_iter().collect()
    }
}

struct Finder<'a> {
    membership: &'a str,
    mounts: Mounts<'a>,
}

impl Finder<'_> {
    fn place(&self, controller: &str) -> Option<Place> {
        let Some(cgroup) = parse::cgroup(self.membership, controller) else { return self.v2() };
        let mount = self.mounts.of_v1(controller)?;
        let is_top = cgroup == "/" && mount.top == "/";
        Some(Place { is_v1: true, is_root: is_top, folders: folders(&mount, cgroup)? })
    }

    fn v2(&self) -> Option<Place> {
        let cgroup = parse::cgroup(self.membership, "")?;
        let folders = folders(&self.mounts.of_v2()?, cgroup)?;
        // Every cgroup except the root has this file.
        let is_root = !folders.first()?.join("cgroup.events").is_file();
        Some(Place { is_v1: false, is_root, folders })
    }
}

fn folders(mount: &Mount<'_>, cgroup: &str) -> Option<Vec<PathBuf>> {
    let top = &mount.point;
    let own = top.join(mounts::relative(cgroup, mount.top)?);
    own.is_dir().then(|| own.ancestors().take_while(|path| path.starts_with(top)).map(Path::to_owned).collect())
}

struct Memory {
    usage: Option<Held>,
    stat: Option<Held>,
    events: Option<Held>,
    /// The limits of the cgroup and its parents; `None` if one is missing.
    limits: Option<Vec<Held>>,
    is_v1: bool,
}

impl Memory {
    fn open(find: &Finder<'_>) -> Option<Self> {
        let place = find.place("memory")?;
        let [of_usage, of_limit, of_events] = if place.is_v1 {
            ["memory.usage_in_bytes", "memory.limit_in_bytes", "memory.oom_control"]
        } else {
            ["memory.current", "memory.max", "memory.events"]
        };
        let own = place.folders.first()?;
        let mut memory = Memory {
            usage: Held::open(&own.join(of_usage)),
            stat: Held::open(&own.join("memory.stat")),
            events: Held::open(&own.join(of_events)),
            limits: place.each(|folder| Held::open(&folder.join(of_limit))),
            is_v1: place.is_v1,
        };
        (!place.is_root || place.is_v1 && memory.limit(Some(u64::MAX)).is_some()).then_some(memory)
    }

    /// Returns the lowest of the cgroup's limit, its parents' limits and `above`, the limit of invisible parents.
    /// `None` if one of them is unknown, because it could be the lowest, or if there is no limit.
    fn limit(&mut self, above: Option<u64>) -> Option<u64> {
        let is_v1 = self.is_v1;
        let parse = |text: &str| if is_v1 { parse::only(text).map(parse::limit_v1) } else { parse::limit(text) };
        let (above, mut limits) = (parse::limit_v1(above?), self.limits.as_mut()?.iter_mut());
        let least = limits.try_fold(above, |least, file| Some(least.min(parse(&file.read()?)?)))?;
        (least < u64::MAX).then_some(least)
    }

    fn read(&mut self, usage: &mut Usage) {
        let (inactive, above) = if self.is_v1 {
            let keys = ["total_inactive_file", "hierarchical_memory_limit"];
            let [inactive, above] = numbers(&mut self.stat, keys);
            (inactive, above)
        } else {
            let [inactive] = numbers(&mut self.stat, ["inactive_file"]);
            (inactive, Some(u64::MAX))
        };
        usage.memory = parsed(&mut self.usage, parse::only);
        usage.working_set = usage.memory.zip(inactive).map(|(memory, inactive)| memory.saturating_sub(inactive));
        usage.memory_limit = self.limit(above);
        [usage.oom_kills] = numbers(&mut self.events, ["oom_kill"]);
    }
}

struct Cpu {
    /// The file with the CPU time, which only version 1 has.
    usage: Option<Held>,
    stat: Option<Held>,
    /// The quotas of the cgroup and its parents; `None` if one is missing.
    quotas: Option<Vec<Quota>>,
    is_v1: bool,
}

impl Cpu {
    fn open(find: &Finder<'_>) -> Option<Self> {
        let place = find.place("cpu")?;
        let mut quotas = place.each(if place.is_v1 { Quota::open_v1 } else { Quota::open });
        if place.is_root && (!place.is_v1 || quotas.as_deref_mut().and_then(quota::least).is_none()) {
            return None;
        }
        let accounting = find.place("cpuacct").filter(|place| place.is_v1);
        let usage = accounting.and_then(|place| Held::open(&place.folders.first()?.join("cpuacct.usage")));
        let stat = Held::open(&place.folders.first()?.join("cpu.stat"));
        Some(Cpu { usage, stat, quotas, is_v1: place.is_v1 })
    }

    fn read(&mut self, usage: &mut Usage) {
        usage.cpu_quota = self.quotas.as_deref_mut().and_then(quota::least);
        if self.is_v1 {
            usage.cpu_nanos = parsed(&mut self.usage, parse::only);
            let keys = ["nr_periods", "nr_throttled", "throttled_time"];
            [usage.periods, usage.throttled_periods, usage.throttled_nanos] = numbers(&mut self.stat, keys);
        } else {
            let keys = ["usage_usec", "nr_periods", "nr_throttled", "throttled_usec"];
            let [used, periods, throttled_periods, throttled] = numbers(&mut self.stat, keys);
            let nanos = |micros: u64| micros.checked_mul(1000);
            (usage.periods, usage.throttled_periods) = (periods, throttled_periods);
            (usage.cpu_nanos, usage.throttled_nanos) = (used.and_then(nanos), throttled.and_then(nanos));
        }
    }
}

/// Returns the numbers of these keys from one reading of the file.
fn numbers<const N: usize>(file: &mut Option<Held>, keys: [&str; N]) -> [Option<u64>; N] {
    parsed(file, |text| Some(keys.map(|key| parse::number(text, key)))).unwrap_or([None; N])
}
