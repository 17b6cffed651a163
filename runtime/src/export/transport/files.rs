//! Files that are read again when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::secret::Masked;

/// Distinguishes two contents of a file: its time, length and number; `None` if there is no file.
pub(super) type Stamp = Option<(SystemTime, u64, u64)>;

pub(super) fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), number(&metadata)))
}

/// Returns the inode number of a file, because a file that replaces another may have the same time and length.
#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

/// The path of a file for messages; hidden if it came from a variable in a file.
pub(super) fn shown(file: &Masked<PathBuf>) -> Masked<String> {
    file.clone().map(|file| file.display().to_string())
}
