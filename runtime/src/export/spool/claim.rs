//! Files that somebody works on, and requests that are being sent.

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

/// A file whose lock this process holds, and which was in its place when it got it. Nobody else removes or renames it.
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Takes a file, unless somebody else has it or it is gone.
    pub(super) fn take(path: PathBuf) -> Option<Self> {
        Self::lock(directory::open(&path).ok()?, path)
    }

    pub(super) fn lock(file: File, path: PathBuf) -> Option<Self> {
        file_lock::try_lock(&file).ok().filter(|is_ours| *is_ours)?;
        // Who had it before may have removed it between the two steps. Names are never used again.
        path.symlink_metadata().ok()?;
        Some(Held { file, path })
    }

    /// Makes a new file. Nothing, if somebody took it for one that was left behind before it was locked: it is gone or
    /// will be, and its name with it.
    pub(super) fn create(path: PathBuf) -> io::Result<Option<Self>> {
        let file = directory::create(&path)?;
        match file_lock::try_lock(&file) {
            Ok(true) => Ok(path.symlink_metadata().is_ok().then_some(Held { file, path })),
            Ok(false) => Ok(None),
            Err(cause) => {
                let _ = fs::remove_file(path);
                Err(io::Error::new(cause.kind(), format!("files cannot be locked there: {cause}")))
            }
        }
    }

    pub(super) fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        parts.iter().try_for_each(|part| self.file.write_all(part))?;
        self.file.sync_all()
    }

    /// Gives it another name. It stays taken.
    pub(super) fn rename(&mut self, path: PathBuf) -> io::Result<()> {
        fs::rename(&self.path, &path)?;
        self.path = path;
        Ok(())
    }

    /// Removes the file. Whether it is gone.
    pub(super) fn remove(self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }

    /// The body, if the file is what its name says.
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
        // Closing is not enough where a child of this process has a copy.
        file_lock::unlock(&self.file);
    }
}

/// A request that is this caller's to send. Dropped, it goes back.
pub(crate) struct Claimed {
    /// How many spans or records it holds.
    pub(crate) items: u64,
    /// The request, as it was put.
    pub(crate) bytes: Bytes,
    /// The account of whoever put it; nothing, if that was another process or an earlier one.
    pub(crate) account: Option<Arc<Account>>,
    pub(super) name: Name,
    held: Option<Held>,
    spool: Arc<Inner>,
}

impl Claimed {
    /// Takes a request, unless it is somebody else's, too old, or damaged.
    pub(super) fn take(spool: &Arc<Inner>, name: Name) -> Option<Claimed> {
        let mut held = Held::take(spool.path(&name))?;
        let mut lost = Lost::default();
        let bytes = if spool.age(&name) > spool.config.max_age {
            spool.expire(&name, held, &mut lost);
            None
        } else {
            // What the disk does not give now it may give later.
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
        // While it is held it is the caller's: it arrives or comes back, whatever happens to its file.
        // One that was missed before, and is back, is no longer counted as ours.
        let account = spool.forget(&name);
        Some(Claimed { items: name.items, bytes, account, name, held: Some(held), spool: Arc::clone(spool) })
    }

    /// It was sent, or never will be: removes it.
    pub(crate) fn done(mut self) {
        let Some(held) = self.held.take() else { return };
        if fs::remove_file(&held.path).is_err() {
            // An empty one is not sent by anybody; and this spool remembers, should that not work either.
            let _ = held.file.set_len(0);
            lock(&self.spool.known).handled.insert(self.name);
        } else {
            let less = |bytes: u64| bytes.saturating_sub(in_blocks(self.name.bytes));
            let _ = self.spool.bytes.fetch_update(Relaxed, Relaxed, |bytes| Some(less(bytes)));
        }
    }

    /// It was not sent: it waits again, in its old place.
    pub(crate) fn back(self) {}
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            // First the lock, then the others: who finds it here can have it.
            drop(held);
            if let Some(account) = self.account.take() {
                self.spool.remember(&self.name, account);
            }
            lock(&self.spool.known).waiting.insert(self.name);
        }
    }
}

impl Inner {
    /// How old a request is. One from the future was written now.
    pub(super) fn age(&self, name: &Name) -> Duration {
        Duration::from_nanos((self.clock)().saturating_sub(name.time))
    }

    /// Removes a request that is too old. Whether it is gone.
    pub(super) fn expire(&self, name: &Name, held: Held, lost: &mut Lost) -> bool {
        let gone = held.remove();
        if gone {
            self.count(name, &mut lost.expired);
        }
        gone
    }

    /// Puts a file beside the others, where nobody reads it. If that does not work it stays, and is looked at again.
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
