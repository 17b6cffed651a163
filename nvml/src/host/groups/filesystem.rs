//! Metrics of local file systems: those in `/proc/self/mountinfo` that are on a device, and a container's root.
//!
//! Network file systems are left out: a query hangs if the server is gone.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use tracecast::InternedKey;

use super::metrics::*;
use crate::held::Held;
use crate::names::{Names, show_as};

/// The most file systems that are measured, in the order of their mounts.
const MOST: usize = 32;

pub(super) struct Filesystem {
    root: PathBuf,
    mountinfo: Option<Held>,
    /// The text of `mountinfo` at the last search for mounts.
    seen: String,
    mounts: Vec<Mount>,
}

struct Mount {
    /// The label value: the mount point without the root below which the machine is mounted.
    name: String,
    path: CString,
}

/// Used, free and reserved bytes.
type Bytes = [Option<u64>; 3];

impl Filesystem {
    pub(super) fn open(root: &Path) -> Self {
        let mountinfo = Held::open(&root.join("proc/self/mountinfo"));
        Filesystem { root: root.to_owned(), mountinfo, seen: String::new(), mounts: Vec::new() }
    }

    pub(super) fn sample(&mut self, names: Names) {
        self.look(names);
        for mount in &self.mounts {
            show(names, mount, usage(&mount.path));
        }
    }

    /// Searches for mounts if `mountinfo` has changed.
    fn look(&mut self, names: Names) {
        let text = self.mountinfo.as_mut().and_then(Held::read).unwrap_or_default();
        if self.seen == text {
            return;
        }
        self.seen = text.into_owned();
        let mounts = mounts(&self.seen, &self.root);
        self.clear(names);
        self.mounts = mounts;
    }

    pub(super) fn clear(&mut self, names: Names) {
        self.mounts.drain(..).for_each(|mount| show(names, &mount, [None; 3]));
    }
}

fn show(names: Names, mount: &Mount, bytes: Bytes) {
    let (ours, theirs) = (mountpoint::intern(&mount.name), system_mountpoint::intern(&mount.name));
    for (state, bytes) in [Space::Used, Space::Free, Space::Reserved].into_iter().zip(bytes) {
        show_as!(names, ours::FILESYSTEM_USAGE(ours, state), conventional::FILESYSTEM_USAGE(theirs, state) = bytes);
    }
    let size = bytes.into_iter().try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?));
    show_as!(names, ours::FILESYSTEM_SIZE(ours), conventional::FILESYSTEM_SIZE(theirs) = size);
}

/// Returns the local file systems, each device once at its first mount point; at most `MOST`.
fn mounts(mountinfo: &str, root: &Path) -> Vec<Mount> {
    let mut devices: Vec<&str> = Vec::new();
    let mut mounts = Vec::new();
    for (device, point, kind, source) in mountinfo.split_inclusive('\n').filter_map(mount) {
        let Ok(below_root) = Path::new(&point).strip_prefix(root) else { continue };
        let name = Path::new("/").join(below_root).to_string_lossy().into_owned();
        let is_container = kind == "overlay" && name == "/";
        let is_local = source.starts_with("/dev/") || kind == "zfs" || is_container;
        // Mounted images are always full.
        let is_image = matches!(kind, "squashfs" | "iso9660" | "erofs");
        if !is_local || is_image || devices.contains(&device) || mounts.len() == MOST {
            continue;
        }
        if let Ok(path) = CString::new(point) {
            devices.push(device);
            mounts.push(Mount { name, path });
        }
    }
    mounts
}

/// Parses `36 35 98:0 /top /point rw,noatime shared:1 - ext4 /dev/sda1 rw`: device, point, kind and source.
fn mount(line: &str) -> Option<(&str, String, &str, &str)> {
    let (place, what) = line.strip_suffix('\n')?.split_once(" - ")?;
    let mut place = place.split(' ').skip(2);
    let (device, point) = (place.next()?, place.nth(1)?);
    let mut what = what.split(' ');
    // The kernel escapes spaces in names.
    let point = point.replace("\\040", " ");
    Some((device, point, what.next()?, what.next()?))
}

/// Returns no values: only Unix has `statvfs`.
#[cfg(not(unix))]
fn usage(_: &CString) -> Bytes {
    [None; 3]
}

/// Returns used, free and reserved bytes, counted as in psutil and node_exporter: `free` is available to every user,
/// `reserved` only to the administrator.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library does not say how full a file system is")]
fn usage(path: &CString) -> Bytes {
    let mut status = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with a zero, and `status` is of the type that the function fills in; both outlive the call.
    if unsafe { libc::statvfs(path.as_ptr(), status.as_mut_ptr()) } != 0 {
        return [None; 3];
    }
    // SAFETY: the function succeeded, so it has initialized `status`.
    let status = unsafe { status.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "some platforms have other types")]
    let [unit, size, free, available] =
        [status.f_frsize as u64, status.f_blocks as u64, status.f_bfree as u64, status.f_bavail as u64];
    let bytes = |blocks: Option<u64>| blocks?.checked_mul(unit);
    [bytes(size.checked_sub(free)), bytes(Some(available)), bytes(free.checked_sub(available))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(mountinfo: &str, root: &str) -> Vec<String> {
        mounts(mountinfo, Path::new(root)).into_iter().map(|mount| mount.name).collect()
    }

    #[test]
    fn local_file_systems_are_those_on_a_device() {
        let text = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n28 27 0:22 / /proc rw - proc proc rw\n\
            29 27 254:0 /var /srv/again rw - ext4 /dev/vda rw\n30 27 8:1 / /mnt/with\\040blank rw shared:1 - xfs /dev/sda1 rw\n\
            31 27 0:40 / /mnt/net rw - nfs4 server:/export rw\n32 27 7:1 / /snap/core ro - squashfs /dev/loop1 ro\n\
            33 27 0:41 / /run rw - tmpfs tmpfs rw\n34 27 0:50 / /tank rw - zfs tank rw\n35 27 8:2 / /cut rw - ext4 /dev/sda2";
        assert_eq!(names(text, "/"), ["/", "/mnt/with blank", "/tank"]);
        let container = "27 1 0:60 / / rw - overlay overlay rw\n28 27 0:61 / /other rw - overlay overlay rw\n";
        assert_eq!(names(container, "/"), ["/"]);
        let host = "27 1 0:60 / / rw - overlay overlay rw\n28 27 8:1 / /host rw - ext4 /dev/sda1 rw\n29 28 8:2 / /host/data rw - xfs /dev/sda2 rw\n";
        assert_eq!(names(host, "/host"), ["/", "/data"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_place_that_is_not_there_is_a_gap() {
        assert_eq!(usage(&CString::new("/nonexistent/place").unwrap()), [None; 3]);
        assert!(usage(&CString::new("/").unwrap()).iter().all(Option::is_some));
    }
}
