//! How a request gets onto the disk.

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

/// A clock that is put back by less than this does not change the order of what one process writes.
const STEP: u64 = 60 * 1_000_000_000;

impl Inner {
    /// Whether files can be made and locked here. A disk that is full now need not be full later.
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
            return Err((Reason::NoSpace, "requests that are being sent take all room of the spool".to_owned()));
        }
        let name = self.write(&mut writing, entry).map_err(|cause| self.refused(&cause))?;
        self.bytes.fetch_add(in_blocks(bytes), Relaxed);
        Ok(name)
    }

    /// What is there. A directory that has vanished is made again; one that is another user's now is an error.
    fn list(&self) -> io::Result<Listing> {
        directory::check_again(&self.config.directory)?;
        Listing::read(&self.config.directory)
    }

    fn refused(&self, cause: &io::Error) -> (Reason, String) {
        // Its path may have come from a variable that is not to be shown.
        (Reason::of(cause), format!("could not write to the spool: {cause}"))
    }

    /// Nobody else can take the file before it is there for good: it is held until then.
    fn write(&self, writing: &mut Writing, entry: &Entry<'_>) -> io::Result<Name> {
        let (name, mut held) = self.create(writing, entry)?;
        let header = format::header(&name, entry.bytes);
        let written = held
            .write(&[&header, entry.bytes])
            .and_then(|()| held.rename(self.path(&name)))
            .and_then(|()| directory::sync(&self.config.directory));
        match written {
            Ok(()) => {
                // It is still held: nobody can send or remove it before it is counted as being there.
                entry.account.pass(entry.items, State::Pending, State::Spooled);
                self.remember(&name, entry.account.clone());
            }
            Err(_) => drop(held.remove()),
        }
        written.map(|()| name)
    }

    /// A file to write to. Others clear away what nobody holds, and may come across one that is just being made.
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

/// How long the file of a request is.
fn in_file(entry: &Entry<'_>) -> u64 {
    (HEADER + entry.bytes.len()) as u64
}
