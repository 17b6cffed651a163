//! What is in the directory.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use super::name::{BAD, ENDING, Name, TEMPORARY};

/// A file takes whole blocks. Counting them so also bounds how many files there can be.
const BLOCK: u64 = 4096;
/// A name may say anything; sums shall not overflow.
const LONGEST: u64 = 1 << 40;

/// All files of ours. What has another kind of name, and what is no plain file, is not seen.
#[derive(Default)]
pub(super) struct Listing {
    /// Requests, the oldest first.
    pub(super) files: Vec<Waiting>,
    /// Files that are being written, or were when their process ended.
    pub(super) temporary: Vec<Other>,
    /// Files that were set aside, the oldest first.
    pub(super) bad: Vec<Other>,
    /// Files with our ending and a name that says nothing to us.
    pub(super) strange: Vec<Other>,
}

/// A request, as far as its name tells.
pub(super) struct Waiting {
    pub(super) name: Name,
    pub(super) bytes: u64,
}

/// Any other file of ours.
pub(super) struct Other {
    pub(super) name: OsString,
    pub(super) bytes: u64,
}

impl Listing {
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            // It may be gone since; and links are not followed.
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

    /// What all of them take.
    pub(super) fn bytes(&self) -> u64 {
        let files = self.files.iter().map(|file| file.bytes);
        let others = [&self.temporary, &self.bad, &self.strange];
        files.chain(others.into_iter().flatten().map(|file| file.bytes)).sum()
    }
}

/// What a file of this length takes. An empty one takes room too: the one that is being written is empty at first.
pub(super) fn in_blocks(bytes: u64) -> u64 {
    bytes.clamp(1, LONGEST).div_ceil(BLOCK) * BLOCK
}
