//! Finds the mount points of cgroups in `/proc/self/mountinfo`.

use std::path::{Path, PathBuf};

/// The usual mount point of cgroups.
const USUAL: &str = "/sys/fs/cgroup";

/// A mounted hierarchy of cgroups.
#[derive(Debug, PartialEq)]
pub(super) struct Mount<'a> {
    pub(super) point: PathBuf,
    /// The cgroup at the mount point.
    pub(super) top: &'a str,
}

/// The mounts of this process, for files below `root`.
#[derive(Clone, Copy)]
pub(super) struct Mounts<'a> {
    pub(super) root: &'a Path,
    /// The text of `mountinfo`, if it can be read.
    pub(super) text: Option<&'a str>,
}

impl<'a> Mounts<'a> {
    /// Finds the version 1 hierarchy with this controller.
    pub(super) fn of_v1(self, controller: &str) -> Option<Mount<'a>> {
        let has = |kind: &str, options: &str| kind == "cgroup" && options.split(',').any(|option| option == controller);
        self.text.map_or_else(|| usual(self.root, Some(controller)), |text| self.find(text, has))
    }

    /// Finds the version 2 hierarchy.
    pub(super) fn of_v2(self) -> Option<Mount<'a>> {
        let is_v2 = |kind: &str, _: &str| kind == "cgroup2";
        self.text.map_or_else(|| usual(self.root, None), |text| self.find(text, is_v2))
    }

    /// Returns the first matching mount. A mount at the usual place is preferred, because other mounts may belong to
    /// another system.
    fn find(self, text: &'a str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Mount<'a>> {
        let prefix = self.prefix(text);
        let all = || text.split_inclusive('\n').filter_map(|line| mount(line, &is_wanted));
        let wanted = || all().filter(|mount| mount.point.starts_with(prefix));
        let usual = below(prefix, Path::new(USUAL));
        let mount = wanted().find(|mount| mount.point.starts_with(&usual)).or_else(|| wanted().next())?;
        let point = mount.point.strip_prefix(prefix).unwrap_or(&mount.point);
        Some(Mount { point: self.root.join(point), top: mount.top })
    }

    /// Returns the prefix of relevant mount points. If a file system is mounted at `root` or below it, the machine's
    /// mounts are there, and other mounts belong to the container of this process. Otherwise the mount points are
    /// relative to `root`.
    fn prefix(self, text: &str) -> &'a Path {
        let mut all = text.split_inclusive('\n').filter_map(|line| mount(line, |_, _| true));
        if all.any(|mount| mount.point.starts_with(self.root)) { self.root } else { Path::new("/") }
    }
}

/// Parses `36 35 98:0 /top /point rw,noatime shared:1 - cgroup2 source rw`. A line without a line break is truncated and ignored.
fn mount<'a>(line: &'a str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Mount<'a>> {
    let (place, kind) = line.strip_suffix('\n')?.split_once(" - ")?;
    let mut kind = kind.split(' ');
    if !is_wanted(kind.next()?, kind.nth(1)?) {
        return None;
    }
    let mut place = place.split(' ').skip(3);
    let (top, point) = (place.next()?, place.next()?);
    // Spaces in names are escaped as `\040`. No cgroup is mounted at such a path.
    (top.starts_with('/') && point.starts_with('/') && !point.contains('\\'))
        .then(|| Mount { point: PathBuf::from(point), top })
}

/// Returns the mount of a hierarchy if `mountinfo` cannot be read: the first usual directory that exists.
fn usual(root: &Path, controller: Option<&str>) -> Option<Mount<'static>> {
    let of_v1 = |controller| [format!("{USUAL}/{controller}"), format!("{USUAL}/cpu,cpuacct")];
    let of_v2 = || [format!("{USUAL}/unified"), USUAL.to_owned()];
    let points = controller.map_or_else(of_v2, of_v1).map(|point| below(root, Path::new(&point)));
    Some(Mount { point: points.into_iter().find(|point| point.is_dir())?, top: "/" })
}

/// Moves an absolute path below `root`.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Returns the path of a cgroup relative to its mount; `None` if it is not visible there.
pub(super) fn relative<'a>(cgroup: &'a str, top: &str) -> Option<&'a str> {
    // Both paths are relative to the cgroup namespace; `..` leads to an unknown place outside it.
    if [cgroup, top].iter().any(|path| path.split('/').any(|part| part == "..")) {
        return None;
    }
    let rest = cgroup.strip_prefix(top.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_v1<'a>(text: &'a str, controller: &str) -> Option<Mount<'a>> {
        Mounts { root: Path::new("/"), text: Some(text) }.of_v1(controller)
    }

    fn of_v2(text: &str) -> Option<Mount<'_>> {
        Mounts { root: Path::new("/"), text: Some(text) }.of_v2()
    }

    const MOUNTS: &str = "\
        22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        30 25 0:26 / /host/sys/fs/cgroup ro - cgroup2 cgroup2 rw\n\
        31 25 0:26 / /sys/fs/cgroup ro,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n\
        33 31 0:30 /docker/1 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

    #[test]
    fn a_mount_is_found_by_its_kind_and_its_controller() {
        let found = of_v2(MOUNTS).unwrap();
        assert_eq!((found.point.as_path(), found.top), (Path::new("/sys/fs/cgroup"), "/"));
        let found = of_v1(MOUNTS, "cpuacct").unwrap();
        assert_eq!((found.point.as_path(), found.top), (Path::new("/sys/fs/cgroup/cpu,cpuacct"), "/docker/1"));
        assert_eq!(of_v1(MOUNTS, "memory"), None);
    }

    #[test]
    fn a_mount_of_the_host_will_do_if_there_is_no_other() {
        let found = of_v2("30 25 0:26 / /host/cgroup ro - cgroup2 cgroup2 rw\n").unwrap();
        assert_eq!(found.point, Path::new("/host/cgroup"));
    }

    #[test]
    fn where_the_machine_is_mounted_only_its_own_mounts_count() {
        let text = "\
            33 31 0:30 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
            34 31 0:31 /docker/1 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n\
            40 25 8:1 / /host ro - ext4 /dev/sda1 rw\n\
            41 40 0:30 / /host/sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let host = Mounts { root: Path::new("/host"), text: Some(text) };
        let found = host.of_v1("memory").unwrap();
        assert_eq!((found.point.as_path(), found.top), (Path::new("/host/sys/fs/cgroup/memory"), "/"));
        assert_eq!(host.of_v1("cpu"), None);
        let own = of_v1(text, "memory").unwrap();
        assert_eq!((own.point.as_path(), own.top), (Path::new("/sys/fs/cgroup/memory"), "/docker/1"));
    }

    #[test]
    fn where_nothing_is_mounted_the_root_is_that_of_the_text() {
        let found = Mounts { root: Path::new("/copy"), text: Some(MOUNTS) }.of_v1("cpu").unwrap();
        assert_eq!((found.point.as_path(), found.top), (Path::new("/copy/sys/fs/cgroup/cpu,cpuacct"), "/docker/1"));
    }

    #[test]
    fn a_line_that_was_cut_off_is_no_mount() {
        let line = "31 25 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n";
        assert!(of_v2(line).is_some());
        for end in 0..line.len() {
            assert_eq!(of_v2(&line[..end]), None, "{}", &line[..end]);
        }
    }

    #[test]
    fn a_cgroup_is_seen_from_the_top_of_its_mount() {
        assert_eq!(relative("/docker/1", "/docker/1"), Some(""));
        assert_eq!(relative("/docker/1/app", "/docker/1"), Some("app"));
        assert_eq!(relative("/a/b", "/"), Some("a/b"));
        assert_eq!(relative("/", "/"), Some(""));
        assert_eq!(relative("/docker/12", "/docker/1"), None);
        assert_eq!(relative("/../sibling", "/"), None);
        assert_eq!(relative("/", "/../../.."), None);
    }
}
