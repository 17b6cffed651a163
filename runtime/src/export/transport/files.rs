//! Files that are read again when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::base::secret::Masked;

/// Distinguishes two contents of a file; `None` if there is no file.
pub(super) type Stamp = Option<(SystemTime, u64)>;

pub(super) fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The name of a file, unless it came from a variable.
pub(super) fn shown(file: &Masked<PathBuf>) -> Masked<String> {
    file.clone().map(|file| file.display().to_string())
}
