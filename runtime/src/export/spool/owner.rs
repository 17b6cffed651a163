//! Checks that a directory or a file is this user's alone. Only Unix tells who the owner is.

use std::fs::Metadata;
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;

/// The name of this user's directory in one that others can write to.
pub(super) fn directory_name() -> String {
    #[cfg(unix)]
    return format!("tracecast-{}", user());
    #[cfg(not(unix))]
    return "tracecast".to_owned();
}

/// Why a directory is not this user's alone. A link is not, whoever owns it: pass the metadata of its target where links are
/// accepted.
#[cfg(unix)]
pub(super) fn fault(metadata: &Metadata) -> Option<String> {
    let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
    if metadata.is_symlink() {
        return Some("it is a symbolic link".to_owned());
    }
    if owner != user() {
        return Some(format!("user {owner} owns it, and this process runs as user {}", user()));
    }
    (mode & 0o022 != 0).then(|| format!("others can write to it (mode {mode:04o})"))
}

#[cfg(not(unix))]
pub(super) fn fault(_: &Metadata) -> Option<String> {
    None
}

/// Why a path cannot be followed. Only root and this user may have made the links in it: those of others lead anywhere.
#[cfg(unix)]
pub(super) fn fault_of_links(path: &Path) -> Option<String> {
    let links = path.ancestors().filter_map(|part| part.symlink_metadata().ok()).filter(Metadata::is_symlink);
    let strange = links.map(|link| link.uid()).find(|owner| ![0, user()].contains(owner))?;
    Some(format!("user {strange} owns a symbolic link in its path"))
}

#[cfg(not(unix))]
pub(super) fn fault_of_links(_: &Path) -> Option<String> {
    None
}

/// Whether this user owns a file.
#[cfg(unix)]
pub(super) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == user()
}

#[cfg(not(unix))]
pub(super) fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: the call has no conditions and cannot fail.
    unsafe { libc::geteuid() }
}
