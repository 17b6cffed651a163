//! Checks that only this user can write to a directory or a file. Checked on Unix only.

use std::fs::Metadata;
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;

/// The name of this user's subdirectory in a directory that others can write to.
pub(super) fn directory_name() -> String {
    #[cfg(unix)]
    return format!("tracecast-{}", user());
    #[cfg(not(unix))]
    return "tracecast".to_owned();
}

/// Returns the reason why a directory is not exclusive to this user: its owner, its mode, or that it is a link; `None`
/// if it is exclusive. Where links are accepted, pass the metadata of the target.
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

/// Returns the reason why a path cannot be trusted: a link in the path belongs to neither root nor this user, so it may
/// lead anywhere. `None` if there is no such link.
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

/// True if this user owns the file.
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
