//! Requests that could not be sent wait on disk, in a bounded directory that several processes may share.
//!
//! A file is one OTLP request as it would have been sent, behind a header with its length and a checksum. It is written
//! under a temporary name, synced, renamed, and the directory is synced before [`Spool::put`] says that it is there.
//! Whoever works on a file holds the system's lock on it (`flock`): who writes it, who sends it, who removes it. A lock
//! ends with its process, so nothing stays claimed and no temporary file stays behind, however a process ends. A file
//! system without such locks cannot hold a spool; [`Spool::open`] says so. On NFS the locks are the server's; where it is
//! mounted with `local_lock` the processes of one host only see each other.
//!
//! Nothing is handed out twice while a process lives to say that it was sent. One that is killed after the receiver had
//! a request, and before [`Claimed::done`], leaves it to be sent again, as does a machine that loses its power shortly
//! after.
//!
//! Only files with names of ours are ever touched. All calls may wait for the disk.

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

/// A signal whose requests are spooled. Those of metrics are not: the next points replace lost ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Spooled {
    Traces,
    Logs,
}

impl Spooled {
    /// Returns `None` if the signal is not spooled.
    pub(crate) fn of(signal: Signal) -> Option<Self> {
        match signal {
            Signal::Traces => Some(Spooled::Traces),
            Signal::Logs => Some(Spooled::Logs),
            Signal::Metrics => None,
        }
    }
}

/// How a request is written. What gRPC and HTTP send in protobuf is the same.
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

/// A request that is to be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) signal: Spooled,
    pub(crate) encoding: Encoding,
    /// How many spans or records it holds.
    pub(crate) items: u64,
    pub(crate) bytes: &'a [u8],
    /// Where they are pending until they are on disk, and where it is counted what becomes of them there.
    pub(crate) account: &'a Arc<Account>,
}

/// An open spool. Its methods may wait for the disk; it can be shared among threads.
#[derive(Clone)]
pub(crate) struct Spool {
    inner: Arc<Inner>,
}

struct Inner {
    config: config::Spool,
    /// What the names of its files have in common, and no others'.
    writer: u64,
    clock: Clock,
    /// Held while a request is written, so that the limit is kept exactly among the threads of a process.
    writing: Mutex<Writing>,
    known: Mutex<Known>,
    /// A lock of its own, which is never held while the disk is waited for.
    lost: Mutex<Losses>,
    /// What this spool has put there and nobody has dealt with, by the numbers in the names.
    ours: Mutex<BTreeMap<u32, Kept>>,
    /// What all files took when the directory was last looked at.
    bytes: AtomicU64,
}

/// A request that this spool has put there.
struct Kept {
    signal: Spooled,
    items: u64,
    account: Arc<Account>,
}

/// The time of day, in nanoseconds since 1970.
type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// What the next name is made of.
#[derive(Default)]
struct Writing {
    number: u32,
    last: u64,
}

/// What was in the directory when it was last looked at. Looking for each request again would take quadratic time.
#[derive(Default)]
struct Known {
    waiting: BTreeSet<Name>,
    looked: Option<Instant>,
    /// Sent, and yet the file could not be removed. It must not be sent again.
    handled: BTreeSet<Name>,
}

/// Files that others put here or gave back are found after this time at the latest.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

impl Spool {
    /// Opens the directory, makes it if need be, and removes what is too old or too much.
    ///
    /// # Errors
    /// If the directory cannot hold a spool. The text names it and says what is needed.
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

    /// Keeps a request. When it returns, the request survives the process and the machine.
    ///
    /// # Errors
    /// If the request could not be kept. Nothing of it is left.
    pub(crate) fn put(&self, entry: &Entry<'_>) -> Result<(), Refused> {
        self.inner.put(entry)
    }

    /// The oldest request of a kind that nobody works on. It is this caller's until it is given back.
    pub(crate) fn next(&self, signal: Spooled, encoding: Encoding) -> Option<Claimed> {
        let mut looked = false;
        while let Some(name) = self.inner.candidate(signal, encoding, &mut looked) {
            if let Some(claimed) = Claimed::take(&self.inner, name) {
                return Some(claimed);
            }
        }
        None
    }

    /// Counts as lost what this spool has put there and what is gone.
    pub(crate) fn verify(&self) {
        let known = self.inner.known_files();
        match Listing::read(&self.inner.config.directory) {
            Ok(listing) => self.inner.lose_missing(&known, &listing),
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                self.inner.lose_missing(&known, &Listing::default());
            }
            // It may be readable again later.
            Err(_) => {}
        }
    }

    /// What is held against the limit, as of the last put or look at the directory. Does not wait for the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes.load(Relaxed)
    }

    /// The limit.
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

    /// The next one that might be free. Looks at the directory once for a caller, when it knows of none.
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

    /// Sees what is there, and keeps it within its bounds. In a directory that cannot be read there is nothing to send.
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

    /// Counts a loss, and reports what no account of this process counts.
    fn lose(&self, lost: &Lost) {
        let report = lock(&self.lost).add(lost, Instant::now());
        report.iter().for_each(|line| notice::say(format_args!("warning: {line}")));
    }

    fn remember(&self, name: &Name, account: Arc<Account>) {
        let kept = Kept { signal: name.signal, items: name.items, account };
        lock(&self.ours).insert(name.number, kept);
    }

    /// Nobody has to look for a file any more. Gives its account, if this spool put it there and has not missed it.
    fn forget(&self, name: &Name) -> Option<Arc<Account>> {
        let mut ours = lock(&self.ours);
        // Anybody can rename a file: only what was put there counts.
        let is_it = |kept: &Kept| (kept.signal, kept.items) == (name.signal, name.items);
        ours.get(&name.number).filter(|kept| name.writer == self.writer && is_it(kept))?;
        ours.remove(&name.number).map(|kept| kept.account)
    }

    /// Counts the items of a file that was removed, unless it was missed before.
    fn count(&self, name: &Name, tally: &mut Tally) {
        if let Some(account) = self.forget(name) {
            account.pass(name.items, State::Spooled, State::Dropped(Dropped::Spool));
            tally.ours.add(name.signal, name.items);
        } else if name.writer != self.writer {
            tally.others.add(name.signal, name.items);
        }
    }

    /// The numbers of files that should be there.
    fn known_files(&self) -> BTreeSet<u32> {
        lock(&self.ours).keys().copied().collect()
    }

    /// Counts files as lost that were known before a directory was listed, and that are not in it.
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
