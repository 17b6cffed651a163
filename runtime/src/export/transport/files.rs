//! Files that are read again when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::secret::Masked;

/// Changes with the content of a file; `None` if there is no file.
pub(super) type Stamp = Option<(SystemTime, u64)>;

pub(super) fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The path of a file for messages; hidden if it came from a variable in a file.
pub(super) fn shown(file: &Masked<PathBuf>) -> Masked<String> {
    file.clone().map(|file| file.display().to_string())
}
