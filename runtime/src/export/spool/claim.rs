//! Locked files, and claimed requests.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;

use super::format::{self, HEADER};
use super::listing::in_blocks;
use super::name::Name;
use super::{Account, Inner, Lost, directory, file_lock, lock};

/// A file that this process has locked, and that existed under its name when the lock was taken. Other processes do not
/// remove or rename it.
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Locks a file; `None` if it is locked already or gone.
    pub(super) fn take(path: PathBuf) -> Option<Self> {
        Self::lock(directory::open(&path).ok()?, path)
    }

    pub(super) fn lock(file: File, path: PathBuf) -> Option<Self> {
        file_lock::try_lock(&file).ok().filter(|is_ours| *is_ours)?;
        // The previous owner of the lock may have removed the file after it was opened. Names are never reused.
        path.symlink_metadata().ok()?;
        Some(Held { file, path })
    }

    /// Creates and locks a new file. `None` if another process took the file for an abandoned one before it was locked.
    /// That process removes the file.
    pub(super) fn create(path: PathBuf) -> io::Result<Option<Self>> {
        let file = directory::create(&path)?;
        match file_lock::try_lock(&file) {
            Ok(true) => Ok(path.symlink_metadata().is_ok().then_some(Held { file, path })),
            Ok(false) => Ok(None),
            Err(cause) => {
                let _ = fs::remove_file(path);
                Err(io::Error::new(cause.kind(), format!("files cannot be locked: {cause}")))
            }
        }
    }

    pub(super) fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        parts.iter().try_for_each(|part| self.file.write_all(part))?;
        self.file.sync_all()
    }

    /// Renames the file, which stays locked.
    pub(super) fn rename(&mut self, path: PathBuf) -> io::Result<()> {
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }

    /// Removes the file. True if that succeeds.
    pub(super) fn remove(self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }

    /// Reads the body; `None` if the file is longer than `most` bytes, or does not match its name or its checksum.
    fn read(&mut self, name: &Name, most: u64) -> io::Result<Option<Bytes>> {
        let bytes = self.file.metadata()?.len();
        let mut header = [0; HEADER];
        if bytes < HEADER as u64 || bytes > most {
            return Ok(None);
        }
        self.file.read_exact(&mut header)?;
        if !format::is_plausible(&header, name, bytes) {
            return Ok(None);
        }
        let mut body = vec![0; usize::try_from(bytes - HEADER as u64).map_err(io::Error::other)?];
        self.file.read_exact(&mut body)?;
        Ok(format::is_whole(&header, &body).then(|| body.into()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing would not unlock the file while a child process has a copy of the descriptor.
        file_lock::unlock(&self.file);
    }
}

/// A claimed request, which only this caller may send. Dropping it releases the request.
pub(crate) struct Claimed {
    /// The number of spans or log records.
    pub(crate) items: u64,
    /// The encoded request.
    pub(crate) bytes: Bytes,
    /// The account of the route that stored it; `None` if another process, such as an earlier one, stored it.
    pub(crate) account: Option<Arc<Account>>,
    pub(super) name: Name,
    held: Option<Held>,
    spool: Arc<Inner>,
}

impl Claimed {
    /// Claims a request. Returns `None` if the file is locked, gone or cannot be read, and for a request that is too
    /// old, which is removed, or damaged, which is set aside.
    pub(super) fn take(spool: &Arc<Inner>, name: Name) -> Option<Claimed> {
        let mut held = Held::take(spool.path(&name))?;
        let mut lost = Lost::default();
        let bytes = if spool.age(&name) > spool.config.max_age {
            spool.expire(&name, held, &mut lost);
            None
        } else {
            // A read error may be temporary, so the file stays.
            match held.read(&name, spool.config.max_bytes).ok()? {
                Some(bytes) => Some((bytes, held)),
                None => {
                    spool.set_aside(Some(&name), held, &mut lost);
                    None
                }
            }
        };
        spool.lose(&lost);
        let (bytes, held) = bytes?;
        // While it is claimed, its items are the caller's: they are sent or released, whatever happens to the file. A
        // file that was counted as missing, and is back, has no account.
        let account = spool.forget(&name);
        Some(Claimed { items: name.items, bytes, account, name, held: Some(held), spool: Arc::clone(spool) })
    }

    /// Removes the request, which was answered.
    pub(crate) fn done(mut self) {
        let Some(held) = self.held.take() else { return };
        if fs::remove_file(&held.path).is_err() {
            // An empty file is never sent. In case truncating also fails, this spool remembers the file.
            let _ = held.file.set_len(0);
            lock(&self.spool.known).handled.insert(self.name);
        } else {
            let less = |bytes: u64| bytes.saturating_sub(in_blocks(self.name.bytes));
            let _ = self.spool.bytes.fetch_update(Relaxed, Relaxed, |bytes| Some(less(bytes)));
        }
    }

    /// Releases the request, which was not answered.
    pub(crate) fn back(self) {}
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            // Unlocked before it is listed: a thread that finds it in the list can lock it.
            drop(held);
            if let Some(account) = self.account.take() {
                self.spool.remember(&self.name, account);
            }
            lock(&self.spool.known).waiting.insert(self.name);
        }
    }
}

impl Inner {
    /// The age of a request. A request from the future has age 0.
    pub(super) fn age(&self, name: &Name) -> Duration {
        Duration::from_nanos((self.clock)().saturating_sub(name.time))
    }

    /// Removes a request that is too old. True if that succeeds.
    pub(super) fn expire(&self, name: &Name, held: Held, lost: &mut Lost) -> bool {
        let gone = held.remove();
        if gone {
            self.count(name, &mut lost.expired);
        }
        gone
    }

    /// Renames an unreadable file to `.bad`, so that it is not read again. If that fails, it is tried again later.
    pub(super) fn set_aside(&self, name: Option<&Name>, mut held: Held, lost: &mut Lost) -> bool {
        let mut path = held.path.clone().into_os_string();
        path.push(".bad");
        let done = held.rename(path.into()).is_ok();
        if done {
            lost.set_aside += 1;
            name.inspect(|name| self.count(name, &mut lost.damaged));
        }
        done
    }
}
