//! Stores requests on disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::claim::Held;
use super::error::{Reason, Refused, SpoolError};
use super::format::{self, HEADER};
use super::limit::largest_file;
use super::listing::{Listing, in_blocks};
use super::name::Name;
use super::{Encoding, Entry, Inner, Lost, Spooled, State, Writing, directory, lock};

/// The time in nanoseconds by which a clock may be set back without a change in the order of a process's files.
const STEP: u64 = 60 * 1_000_000_000;

impl Inner {
    /// Checks that files can be created and locked. A full disk passes, because it may have room later.
    pub(super) fn probe(&self) -> Result<(), SpoolError> {
        let account = Arc::default();
        let (signal, encoding) = (Spooled::Traces, Encoding::Protobuf);
        let nothing = Entry { signal, encoding, items: 0, bytes: &[], account: &account };
        match self.create(&mut lock(&self.writing), &nothing) {
            Ok((_, held)) => {
                held.remove();
                Ok(())
            }
            Err(cause) if Reason::of(&cause) == Reason::NoSpace => Ok(()),
            Err(cause) => Err(directory::unusable(&self.config.directory, &cause)),
        }
    }

    pub(super) fn put(&self, entry: &Entry<'_>) -> Result<(), Refused> {
        let mut lost = Lost::default();
        let name = self.make_room_and_write(entry, &mut lost);
        self.lose(&lost);
        match name {
            Ok(name) => {
                lock(&self.known).waiting.insert(name);
                Ok(())
            }
            Err((reason, text)) => Err(Refused { reason, text }),
        }
    }

    fn make_room_and_write(&self, entry: &Entry<'_>, lost: &mut Lost) -> Result<Name, (Reason, String)> {
        let bytes = in_file(entry);
        let most = self.config.max_bytes.min(largest_file());
        if in_blocks(bytes) > self.config.max_bytes || bytes > most {
            return Err((Reason::TooLarge, format!("a request of {bytes} bytes is too large for a spool of {most}")));
        }
        let mut writing = lock(&self.writing);
        let mut listing = self.list().map_err(|cause| self.refused(&cause))?;
        let room = self.keep_bounds(&mut listing, in_blocks(bytes), lost);
        self.bytes.store(listing.bytes(), Relaxed);
        if !room {
            return Err((Reason::NoSpace, "requests in flight take the whole limit of the spool".to_owned()));
        }
        let name = self.write(&mut writing, entry).map_err(|cause| self.refused(&cause))?;
        self.bytes.fetch_add(in_blocks(bytes), Relaxed);
        Ok(name)
    }

    /// Lists the directory. Creates it again if it is gone; fails if another user has replaced it.
    fn list(&self) -> io::Result<Listing> {
        directory::check_again(&self.config.directory)?;
        Listing::read(&self.config.directory)
    }

    fn refused(&self, cause: &io::Error) -> (Reason, String) {
        // Without the path, which may come from a hidden variable.
        (Reason::of(cause), format!("could not write to the spool: {cause}"))
    }

    /// Writes a request. The file stays locked until it is complete and counted.
    fn write(&self, writing: &mut Writing, entry: &Entry<'_>) -> io::Result<Name> {
        let (name, mut held) = self.create(writing, entry)?;
        let header = format::header(&name, entry.bytes);
        let written = held
            .write(&[&header, entry.bytes])
            .and_then(|()| held.rename(self.path(&name)))
            .and_then(|()| directory::sync(&self.config.directory));
        match written {
            Ok(()) => {
                // The file is still locked, so no process can send or remove it before it is counted.
                entry.account.pass(entry.items, State::Pending, State::Spooled);
                self.remember(&name, entry.account.clone());
            }
            Err(_) => drop(held.remove()),
        }
        written.map(|()| name)
    }

    /// Creates a file to write to. Retries if another process takes the new file for an abandoned file and removes it.
    fn create(&self, writing: &mut Writing, entry: &Entry<'_>) -> io::Result<(Name, Held)> {
        loop {
            let name = self.name(writing, entry);
            if let Some(held) = Held::create(self.config.directory.join(name.temporary()))? {
                return Ok((name, held));
            }
        }
    }

    fn name(&self, writing: &mut Writing, entry: &Entry<'_>) -> Name {
        let now = (self.clock)();
        let put_back = now <= writing.last && writing.last - now < STEP;
        writing.last = if put_back { writing.last.saturating_add(1) } else { now };
        writing.number = writing.number.wrapping_add(1);
        let Entry { signal, encoding, items, .. } = *entry;
        Name {
            time: writing.last,
            writer: self.writer,
            number: writing.number,
            items,
            bytes: in_file(entry),
            signal,
            encoding,
        }
    }
}

/// The length of a request's file.
fn in_file(entry: &Entry<'_>) -> u64 {
    (HEADER + entry.bytes.len()) as u64
}
