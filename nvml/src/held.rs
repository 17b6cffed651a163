//! Files that are read again and again: opened once, into memory that is kept.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// More than any of these files has before what is wanted of it.
const MOST_BYTES: u64 = 64 * 1024;

pub(crate) struct Held {
    file: File,
    bytes: Vec<u8>,
}

impl Held {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        Some(Held { file: File::open(path).ok()?, bytes: Vec::new() })
    }

    /// What stands in it now.
    pub(crate) fn read(&mut self) -> Option<Cow<'_, str>> {
        self.bytes.clear();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        (&self.file).take(MOST_BYTES).read_to_end(&mut self.bytes).ok()?;
        Some(String::from_utf8_lossy(&self.bytes))
    }
}

/// What `parse` finds in a file, if there is one.
pub(crate) fn parsed<T>(file: &mut Option<Held>, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(&file.as_mut()?.read()?)
}
