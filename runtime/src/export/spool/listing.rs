//! Lists the directory.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use super::name::{BAD, ENDING, Name, TEMPORARY};

/// Files are counted in whole blocks, which also limits their number.
const BLOCK: u64 = 4096;
/// The maximum size in bytes that is read from a name: any name is possible, and sums must not overflow.
const LONGEST: u64 = 1 << 40;

/// All files of spools. Files with other names, and everything that is not a plain file, are ignored.
#[derive(Default)]
pub(super) struct Listing {
    /// Requests, the oldest first.
    pub(super) files: Vec<Waiting>,
    /// Files that are being written, or that an ended process was writing.
    pub(super) temporary: Vec<Other>,
    /// Files that were set aside, the oldest first.
    pub(super) bad: Vec<Other>,
    /// Files with our ending whose names cannot be parsed.
    pub(super) strange: Vec<Other>,
}

/// A request, known by its name.
pub(super) struct Waiting {
    pub(super) name: Name,
    pub(super) bytes: u64,
}

/// A file of a spool that is not a complete request.
pub(super) struct Other {
    pub(super) name: OsString,
    pub(super) bytes: u64,
}

impl Listing {
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            // The file may have been removed meanwhile. Links are not followed.
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                listing.add(&entry);
            }
        }
        listing.files.sort_unstable_by_key(|file| file.name);
        listing.bad.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    fn add(&mut self, entry: &fs::DirEntry) {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if let Ok(name) = text.parse::<Name>() {
            self.files.push(Waiting { name, bytes: in_blocks(name.bytes) });
            return;
        }
        let kinds = [(TEMPORARY, &mut self.temporary), (BAD, &mut self.bad), (ENDING, &mut self.strange)];
        if let Some((_, kind)) = kinds.into_iter().find(|(ending, _)| text.ends_with(ending))
            && let Ok(metadata) = entry.metadata()
        {
            kind.push(Other { bytes: in_blocks(metadata.len()), name: entry.file_name() });
        }
    }

    /// The bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        let files = self.files.iter().map(|file| file.bytes);
        let others = [&self.temporary, &self.bad, &self.strange];
        files.chain(others.into_iter().flatten().map(|file| file.bytes)).sum()
    }
}

/// Returns the disk space that a file of this length counts for, in whole blocks. An empty file counts as one block: a
/// file being written is empty at first.
pub(super) fn in_blocks(bytes: u64) -> u64 {
    bytes.clamp(1, LONGEST).div_ceil(BLOCK) * BLOCK
}
