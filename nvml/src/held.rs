//! Files that are read repeatedly: each is opened once and read into a buffer that is reused.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The most bytes that are read of a file. In each of these files the needed values come earlier.
const MOST_BYTES: u64 = 64 * 1024;

pub(crate) struct Held {
    file: File,
    bytes: Vec<u8>,
}

impl Held {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        Some(Held { file: File::open(path).ok()?, bytes: Vec::new() })
    }

    /// Reads the file from the start.
    pub(crate) fn read(&mut self) -> Option<Cow<'_, str>> {
        self.bytes.clear();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        (&self.file).take(MOST_BYTES).read_to_end(&mut self.bytes).ok()?;
        Some(String::from_utf8_lossy(&self.bytes))
    }
}

/// Reads the file and returns the result of `parse`; `None` also if the file is not open or cannot be read.
pub(crate) fn parsed<T>(file: &mut Option<Held>, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(&file.as_mut()?.read()?)
}
