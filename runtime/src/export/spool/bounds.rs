//! Keeps the directory within its limits of age and bytes, and removes files that are not used any more.

use std::io::ErrorKind;
use std::path::Path;

use super::claim::Held;
use super::listing::{Listing, Other, Waiting};
use super::name::Name;
use super::{Inner, Lost};

/// The maximum time, in nanoseconds, by which a file may be from the future: clocks are corrected now and then, and the
/// clocks of several machines differ.
const AHEAD: u64 = 60 * 1_000_000_000;
/// The limits for unreadable files that are kept for diagnosis: their number, and the divisor that gives their part of the
/// spool's limit.
const BAD_FILES: usize = 16;
const BAD_PART: u64 = 8;

impl Inner {
    /// Removes abandoned temporary files, requests that are too old, unreadable files beyond their limits, and the
    /// oldest requests until `more` bytes fit. Returns whether they fit. Locked files stay.
    pub(super) fn keep_bounds(&self, listing: &mut Listing, more: u64, lost: &mut Lost) -> bool {
        listing.temporary.retain(|file| !self.remove(file));
        self.set_strange_aside(listing, lost);
        self.bring_back_from_the_future(&mut listing.files);
        listing.files.retain(|file| self.age(&file.name) <= self.config.max_age || !self.expired(file, lost));
        self.keep_few_bad(listing);
        self.make_room(listing, more, lost)
    }

    fn set_strange_aside(&self, listing: &mut Listing, lost: &mut Lost) {
        let Listing { strange, bad, .. } = listing;
        strange.retain_mut(|file| {
            let held = Held::take(self.config.directory.join(&file.name));
            let done = held.is_some_and(|held| self.set_aside(None, held, lost));
            if done {
                let mut name = std::mem::take(&mut file.name);
                name.push(".bad");
                bad.push(Other { name, bytes: file.bytes });
            }
            !done
        });
    }

    /// Renames files from the future, written before the clock was set back, so that they count as written now.
    /// Otherwise these files would be the last to expire or to be evicted.
    fn bring_back_from_the_future(&self, files: &mut [Waiting]) {
        let now = (self.clock)();
        let first = files.partition_point(|file| file.name.time <= now.saturating_add(AHEAD));
        for (file, later) in files[first..].iter_mut().zip(0..) {
            let name = Name { time: now.saturating_add(later), ..file.name };
            if let Some(mut held) = Held::take(self.path(&file.name))
                && held.rename(self.path(&name)).is_ok()
            {
                file.name = name;
            }
        }
        files.sort_unstable_by_key(|file| file.name);
    }

    fn expired(&self, file: &Waiting, lost: &mut Lost) -> bool {
        Held::take(self.path(&file.name)).is_some_and(|held| self.expire(&file.name, held, lost))
    }

    fn keep_few_bad(&self, listing: &mut Listing) {
        let most = self.config.max_bytes / BAD_PART;
        let mut bytes: u64 = listing.bad.iter().map(|file| file.bytes).sum();
        let mut number = listing.bad.len();
        listing.bad.retain(|file| {
            let gone = (number > BAD_FILES || bytes > most) && self.remove(file);
            if gone {
                number -= 1;
                bytes -= file.bytes;
            }
            !gone
        });
    }

    /// Makes room for `more` bytes: removes unreadable files first, then the oldest requests. Returns whether there is
    /// room.
    fn make_room(&self, listing: &mut Listing, more: u64, lost: &mut Lost) -> bool {
        let mut bytes = listing.bytes().saturating_add(more);
        listing.bad.retain(|file| {
            let gone = bytes > self.config.max_bytes && self.remove(file);
            bytes -= if gone { file.bytes } else { 0 };
            !gone
        });
        listing.files.retain(|file| {
            if bytes <= self.config.max_bytes {
                return true;
            }
            let path = self.path(&file.name);
            let removed = Held::take(path.clone()).is_some_and(Held::remove);
            if removed {
                self.count(&file.name, &mut lost.evicted);
            }
            // A file that another process has removed meanwhile makes room as well; otherwise too many would be
            // removed.
            let gone = removed || is_gone(&path);
            bytes -= if gone { file.bytes } else { 0 };
            !gone
        });
        bytes <= self.config.max_bytes
    }

    /// Removes a file that is not locked. True if it is gone, also if another process has removed it.
    fn remove(&self, file: &Other) -> bool {
        let path = self.config.directory.join(&file.name);
        Held::take(path.clone()).is_some_and(Held::remove) || is_gone(&path)
    }
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
}
