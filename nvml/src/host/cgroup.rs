//! The cgroup that this process is in: what it uses, and what it may use.
//!
//! Each controller is of version 1 or 2. Limits of the cgroups above count as well, as far as they can be seen.

use std::path::{Path, PathBuf};

use super::mounts::{self, Mount, Mounts};
use super::parse;
use super::pressure::{Pressure, Stalls};
use super::quota::{self, Quota};
use crate::held::{Held, parsed};

/// What a container uses. `None` is a gap: it is not known, or there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) memory: Option<u64>,
    /// Memory in use without files that were not read of late: what Kubernetes compares with the limit.
    pub(super) working_set: Option<u64>,
    pub(super) memory_limit: Option<u64>,
    pub(super) oom_kills: Option<u64>,
    pub(super) cpu_nanos: Option<u64>,
    /// How many CPUs it may use.
    pub(super) cpu_quota: Option<f64>,
    pub(super) periods: Option<u64>,
    pub(super) throttled_periods: Option<u64>,
    pub(super) throttled_nanos: Option<u64>,
    pub(super) stalls: Stalls,
}

impl Usage {
    /// What is left of the limit.
    pub(super) fn available(&self) -> Option<u64> {
        Some(self.memory_limit?.saturating_sub(self.working_set?))
    }
}

pub(super) struct Cgroup {
    root: PathBuf,
    /// Which cgroups the process is in, and what that was when their files were opened.
    membership: Option<Held>,
    opened: String,
    memory: Option<Memory>,
    cpu: Option<Cpu>,
    pressure: Pressure,
}

impl Cgroup {
    /// Finds the cgroup of this process, in the file system below `root`.
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

    /// What it uses, and whether it is another cgroup than before.
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

/// Where the cgroup of this process is, for one controller.
struct Place {
    is_v1: bool,
    /// It is that of the whole machine. In version 1 it may be that of a container too, which cannot be told.
    is_root: bool,
    /// Its folder, then those above it, up to the mount.
    folders: Vec<PathBuf>,
}

impl Place {
    /// The file of each cgroup. The top may be the machine, which has no limits; else one without them is not to be
    /// trusted.
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
        // Every cgroup has this file but the one of the machine.
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
    /// Its own and those above; none if one is missing.
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

    /// The least limit; `above` is that of cgroups which cannot be seen. One that is not known could be less than all others.
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
    /// Version 1 has it in a file of its own.
    usage: Option<Held>,
    stat: Option<Held>,
    /// Its own and those above; none if one is missing.
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

/// The numbers behind these keys, of one reading.
fn numbers<const N: usize>(file: &mut Option<Held>, keys: [&str; N]) -> [Option<u64>; N] {
    parsed(file, |text| Some(keys.map(|key| parse::number(text, key)))).unwrap_or([None; N])
}
