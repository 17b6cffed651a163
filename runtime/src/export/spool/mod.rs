//! The spool: stores requests that could not be sent in a bounded directory, which several processes may share.
//!
//! A file is one OTLP request as it would have been sent, after a header with its length and a checksum. The file is
//! written under a temporary name, synced and renamed, and the directory is synced before [`Spool::put`] returns. A
//! process that writes, sends or removes a file holds the system's lock on it (`flock`). The lock ends with the
//! process, so no file stays claimed, and temporary files of ended processes are removed. [`Spool::open`] fails on a
//! file system without such locks. On NFS the server keeps the locks; where it is mounted with `local_lock`, only
//! processes of one host exclude each other.
//!
//! A request that was sent is claimed again only if its process is killed before [`Claimed::done`], or if the machine
//! loses power shortly after; the receiver then gets it twice.
//!
//! Only files with names of a spool are ever touched. All calls may block on the disk.

mod bounds;
mod claim;
mod directory;
mod error;
mod file_lock;
mod format;
mod limit;
mod listing;
mod lost;
mod name;
mod owner;
mod put;

#[cfg(all(test, not(miri)))]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) use self::claim::Claimed;
pub(crate) use self::error::{Refused, SpoolError};

use self::listing::Listing;
use self::lost::{Losses, Lost, Tally};
use self::name::Name;
use crate::base::notice;
use crate::base::sync::lock;
use crate::config::{self, Protocol, Signal};
use crate::export::account::{Account, State};
use crate::export::self_metrics::Reason as Dropped;
use crate::record::{clock, ids};

/// The signals that are spooled. Metrics are not spooled, because later cumulative points include the values of lost
/// points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Spooled {
    Traces,
    Logs,
}

impl Spooled {
    /// Converts a signal; `None` if the signal is not spooled.
    pub(crate) fn of(signal: Signal) -> Option<Self> {
        match signal {
            Signal::Traces => Some(Spooled::Traces),
            Signal::Logs => Some(Spooled::Logs),
            Signal::Metrics => None,
        }
    }
}

/// The encoding of a request. Protobuf is the same for gRPC and HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    pub(crate) fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::HttpJson => Encoding::Json,
            Protocol::Grpc | Protocol::HttpProtobuf => Encoding::Protobuf,
        }
    }
}

/// A request to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) signal: Spooled,
    pub(crate) encoding: Encoding,
    /// The number of spans or log records.
    pub(crate) items: u64,
    pub(crate) bytes: &'a [u8],
    /// The account in which the items are pending, and which counts them while they are on disk.
    pub(crate) account: &'a Arc<Account>,
}

/// An open spool, which threads can share. Its methods may block on the disk.
#[derive(Clone)]
pub(crate) struct Spool {
    inner: Arc<Inner>,
}

struct Inner {
    config: config::Spool,
    /// The random number of this spool in the names of its files.
    writer: u64,
    clock: Clock,
    /// Held while a request is written, so that the threads of a process keep the limit exactly.
    writing: Mutex<Writing>,
    known: Mutex<Known>,
    /// Locked separately: this lock is never held while the disk is used.
    lost: Mutex<Losses>,
    /// The stored requests of this spool that are neither claimed, removed nor missing, by the numbers in their names.
    ours: Mutex<BTreeMap<u32, Kept>>,
    /// The bytes of all files when the directory was last listed, updated when this spool adds or removes a request.
    bytes: AtomicU64,
}

/// A request that this spool has stored.
struct Kept {
    signal: Spooled,
    items: u64,
    account: Arc<Account>,
}

/// A function that returns the wall-clock time, in nanoseconds since the Unix epoch.
type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The state from which the name of the next file is made.
#[derive(Default)]
struct Writing {
    number: u32,
    last: u64,
}

/// The files in the directory when it was last listed. Listing it for each request would take quadratic time.
#[derive(Default)]
struct Known {
    waiting: BTreeSet<Name>,
    looked: Option<Instant>,
    /// Requests that were sent but could not be removed, and must not be sent again.
    handled: BTreeSet<Name>,
}

/// The longest time until files that other processes stored or released are found.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Spool {
    /// Opens a spool: creates the directory if it is missing, and removes files beyond the limits.
    ///
    /// # Errors
    /// If the directory cannot be used. The text names it and the requirements.
    pub(crate) fn open(config: config::Spool) -> Result<Spool, SpoolError> {
        Spool::with_clock(config, Box::new(clock::unix_now))
    }

    fn with_clock(config: config::Spool, clock: Clock) -> Result<Spool, SpoolError> {
        let directory = directory::prepare(&config.directory)?;
        let inner = Inner {
            config: config::Spool { directory: config.directory.map(|_| directory), ..config },
            writer: ids::random(),
            clock,
            writing: Mutex::default(),
            known: Mutex::default(),
            lost: Mutex::default(),
            ours: Mutex::default(),
            bytes: AtomicU64::new(0),
        };
        inner.probe()?;
        inner.look(&mut lock(&inner.known));
        Ok(Spool { inner: Arc::new(inner) })
    }

    /// Stores a request. Once it returns, the request survives a crash of the process and of the machine.
    ///
    /// # Errors
    /// If the request could not be stored. No part of it is left on disk.
    pub(crate) fn put(&self, entry: &Entry<'_>) -> Result<(), Refused> {
        self.inner.put(entry)
    }

    /// Claims the oldest request of this signal and encoding that is not claimed yet; `None` if there is none.
    pub(crate) fn next(&self, signal: Spooled, encoding: Encoding) -> Option<Claimed> {
        let mut looked = false;
        while let Some(name) = self.inner.candidate(signal, encoding, &mut looked) {
            if let Some(claimed) = Claimed::take(&self.inner, name) {
                return Some(claimed);
            }
        }
        None
    }

    /// Counts requests of this spool as lost if their files are gone. Counts nothing if the directory cannot be read.
    pub(crate) fn verify(&self) {
        let known = self.inner.known_files();
        match Listing::read(&self.inner.config.directory) {
            Ok(listing) => self.inner.lose_missing(&known, &listing),
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                self.inner.lose_missing(&known, &Listing::default());
            }
            // The error may be temporary.
            Err(_) => {}
        }
    }

    /// The bytes that count against the limit, as of the last `put` or listing. Does not use the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes.load(Relaxed)
    }

    /// The maximum size of all files in bytes.
    pub(crate) fn capacity(&self) -> u64 {
        self.inner.config.max_bytes
    }
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spool").field(&self.inner.config).finish()
    }
}

impl Inner {
    fn path(&self, name: &Name) -> PathBuf {
        self.config.directory.join(name.to_string())
    }

    /// Returns the next request to try to claim; another process may hold it already. Lists the directory if the cached list is
    /// stale or has no such request, at most once per call of `next`: `looked` records that it was done. `None` if no request is left.
    fn candidate(&self, signal: Spooled, encoding: Encoding, looked: &mut bool) -> Option<Name> {
        let mut known = lock(&self.known);
        let stale = known.looked.is_none_or(|at| at.elapsed() >= LOOK_AGAIN);
        loop {
            let first = known.waiting.iter().find(|name| (name.signal, name.encoding) == (signal, encoding)).copied();
            if !*looked && (stale || first.is_none()) {
                *looked = true;
                self.look(&mut known);
                continue;
            }
            known.waiting.remove(&first?);
            return first;
        }
    }

    /// Lists the directory and keeps it within its limits. If it cannot be read, no request is known.
    fn look(&self, known: &mut Known) {
        known.looked = Some(Instant::now());
        known.waiting.clear();
        let files = self.known_files();
        let Ok(mut listing) = Listing::read(&self.config.directory) else { return };
        self.lose_missing(&files, &listing);
        let mut lost = Lost::default();
        self.keep_bounds(&mut listing, 0, &mut lost);
        self.lose(&lost);
        self.bytes.store(listing.bytes(), Relaxed);
        known.waiting = listing.files.iter().map(|file| file.name).collect();
        known.handled.retain(|name| known.waiting.remove(name));
    }

    /// Counts a loss, and writes warnings about losses that no account of this process counts.
    fn lose(&self, lost: &Lost) {
        let report = lock(&self.lost).add(lost, Instant::now());
        report.iter().for_each(|line| notice::say(format_args!("warning: {line}")));
    }

    fn remember(&self, name: &Name, account: Arc<Account>) {
        let kept = Kept { signal: name.signal, items: name.items, account };
        lock(&self.ours).insert(name.number, kept);
    }

    /// Stops tracking a file. Returns its account, if this spool stored it and has not counted it as missing.
    fn forget(&self, name: &Name) -> Option<Arc<Account>> {
        let mut ours = lock(&self.ours);
        // Other programs can rename files, so the number alone does not identify the request.
        let is_it = |kept: &Kept| (kept.signal, kept.items) == (name.signal, name.items);
        ours.get(&name.number).filter(|kept| name.writer == self.writer && is_it(kept))?;
        ours.remove(&name.number).map(|kept| kept.account)
    }

    /// Counts the items of a removed file, unless it was counted as missing before.
    fn count(&self, name: &Name, tally: &mut Tally) {
        if let Some(account) = self.forget(name) {
            account.pass(name.items, State::Spooled, State::Dropped(Dropped::Spool));
            tally.ours.add(name.signal, name.items);
        } else if name.writer != self.writer {
            tally.others.add(name.signal, name.items);
        }
    }

    /// The numbers of the files that should exist.
    fn known_files(&self) -> BTreeSet<u32> {
        lock(&self.ours).keys().copied().collect()
    }

    /// Counts files as lost that were known before the directory was listed and are not in it.
    fn lose_missing(&self, known: &BTreeSet<u32>, listing: &Listing) {
        let ours = listing.files.iter().filter(|file| file.name.writer == self.writer);
        let there: BTreeSet<u32> = ours.map(|file| file.name.number).collect();
        let mut files = lock(&self.ours);
        let missing: Vec<_> = known.difference(&there).filter_map(|number| files.remove(number)).collect();
        drop(files);
        let lost_on_disk = State::Dropped(Dropped::LostOnDisk);
        missing.iter().for_each(|kept| kept.account.pass(kept.items, State::Spooled, lost_on_disk));
        let missing = missing.iter().map(|kept| (kept.signal, kept.items)).collect();
        self.lose(&Lost { missing, ..Lost::default() });
    }
}
