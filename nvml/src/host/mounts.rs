//! Where cgroups are mounted: `/proc/self/mountinfo`.

use std::path::{Path, PathBuf};

/// Where cgroups are unless it is said otherwise.
const USUAL: &str = "/sys/fs/cgroup";

/// A hierarchy of cgroups in the file system.
#[derive(Debug, PartialEq)]
pub(super) struct Mount<'a> {
    pub(super) point: PathBuf,
    /// The cgroup that is seen at that point.
    pub(super) top: &'a str,
}

/// The hierarchy of version 1 that has this controller.
pub(super) fn of_v1<'a>(mountinfo: &'a str, controller: &str) -> Option<Mount<'a>> {
    find(mountinfo, |kind, options| kind == "cgroup" && options.split(',').any(|option| option == controller))
}

/// The hierarchy of version 2.
pub(super) fn of_v2(mountinfo: &str) -> Option<Mount<'_>> {
    find(mountinfo, |kind, _| kind == "cgroup2")
}

/// The first mount that is wanted; one at the usual place before others, which are those of somebody else.
fn find(mountinfo: &str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Mount<'_>> {
    let wanted = || mountinfo.split_inclusive('\n').filter_map(|line| mount(line, &is_wanted));
    wanted().find(|mount| mount.point.starts_with(USUAL)).or_else(|| wanted().next())
}

/// `36 35 98:0 /top /point rw,noatime shared:1 - cgroup2 source rw`. A line without an end was cut off.
fn mount<'a>(line: &'a str, is_wanted: impl Fn(&str, &str) -> bool) -> Option<Mount<'a>> {
    let (place, kind) = line.strip_suffix('\n')?.split_once(" - ")?;
    let mut kind = kind.split(' ');
    if !is_wanted(kind.next()?, kind.nth(1)?) {
        return None;
    }
    let mut place = place.split(' ').skip(3);
    let (top, point) = (place.next()?, place.next()?);
    // Blanks in names are written as `\040`. No cgroup is mounted at such a place.
    (top.starts_with('/') && point.starts_with('/') && !point.contains('\\'))
        .then(|| Mount { point: PathBuf::from(point), top })
}

/// Where a hierarchy is if `mountinfo` cannot be read: the first of these that exists.
pub(super) fn usual(root: &Path, controller: Option<&str>) -> Option<Mount<'static>> {
    let of_v1 = |controller| [format!("{USUAL}/{controller}"), format!("{USUAL}/cpu,cpuacct")];
    let of_v2 = || [format!("{USUAL}/unified"), USUAL.to_owned()];
    let point =
        controller.map_or_else(of_v2, of_v1).into_iter().find(|point| below(root, Path::new(point)).is_dir())?;
    Some(Mount { point: PathBuf::from(point), top: "/" })
}

/// An absolute path, below `root`.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The path of a cgroup from the top of its mount; `None` if it cannot be seen there.
pub(super) fn relative<'a>(cgroup: &'a str, top: &str) -> Option<&'a str> {
    // Both are as seen from the cgroup namespace; `..` is what lies outside of it, and nobody knows where.
    if [cgroup, top].iter().any(|path| path.split('/').any(|part| part == "..")) {
        return None;
    }
    let rest = cgroup.strip_prefix(top.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

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
