//! Tests of a spool on a real disk.

mod bounds;
mod clock;
mod damage;
#[cfg(target_os = "linux")]
mod disk;
mod model;
mod place;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod program;
#[cfg(target_os = "linux")]
mod sync;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::error::Reason;
use super::lost::Items;
use super::*;
use crate::config::Spool as Settings;

/// A limit beyond the need of any test.
const PLENTY: u64 = 1 << 30;
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// A directory that is removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("tracecast-spool-{:016x}", ids::random()));
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    /// A path for a spool.
    fn directory(&self) -> PathBuf {
        self.0.join("spool")
    }

    fn config(&self, bytes: u64) -> Settings {
        Settings { directory: self.directory().into(), max_bytes: bytes, max_age: LONG }
    }

    fn open(&self, bytes: u64) -> Spool {
        Spool::open(self.config(bytes)).unwrap()
    }

    /// All file names in the spool's directory, sorted.
    fn names(&self) -> Vec<String> {
        names(&self.directory())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A clock that the test sets.
#[derive(Clone)]
struct Hands(Arc<AtomicU64>);

const SECOND: u64 = 1_000_000_000;

impl Hands {
    fn new() -> Self {
        Hands(Arc::new(AtomicU64::new(1_000_000_000 * SECOND)))
    }

    fn forward(&self, nanos: u64) {
        self.0.fetch_add(nanos, Relaxed);
    }

    fn open(&self, config: Settings) -> Spool {
        let hands = self.clone();
        Spool::with_clock(config, Box::new(move || hands.0.load(Relaxed))).unwrap()
    }
}

/// An account with enough pending items for every test.
fn account() -> &'static Arc<Account> {
    static ACCOUNT: LazyLock<Arc<Account>> = LazyLock::new(|| {
        let account = Arc::<Account>::default();
        account.add(u64::MAX / 4, State::Pending);
        account
    });
    &ACCOUNT
}

fn traces(items: u64, bytes: &[u8]) -> Entry<'_> {
    Entry { signal: Spooled::Traces, encoding: Encoding::Protobuf, items, bytes, account: account() }
}

fn logs(items: u64, bytes: &[u8]) -> Entry<'_> {
    Entry { signal: Spooled::Logs, ..traces(items, bytes) }
}

fn next(spool: &Spool) -> Option<Claimed> {
    spool.next(Spooled::Traces, Encoding::Protobuf)
}

/// The content of the directory, of all processes, and the losses counted by this spool.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    /// Requests, including those in flight.
    files: u64,
    /// The bytes that count against the limit: all files of spools, in whole blocks.
    bytes: u64,
    items: Items,
    /// Unreadable files that were renamed.
    set_aside: u64,
    lost: Lost,
}

impl Spool {
    /// The losses since this spool was opened.
    fn lost(&self) -> Lost {
        lock(&self.inner.lost).all
    }

    fn figures(&self) -> Figures {
        let listing = Listing::read(&self.inner.config.directory).unwrap_or_default();
        Figures {
            files: listing.files.len() as u64,
            bytes: listing.bytes(),
            items: listing.files.iter().map(|file| (file.name.signal, file.name.items)).collect(),
            set_aside: listing.bad.len() as u64,
            lost: self.lost(),
        }
    }
}

/// Takes all requests with spans, as text.
fn drain(spool: &Spool) -> Vec<String> {
    std::iter::from_fn(|| next(spool))
        .map(|claimed| {
            let text = String::from_utf8(claimed.bytes.to_vec()).unwrap();
            claimed.done();
            text
        })
        .collect()
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

#[test]
fn what_is_put_comes_back_as_it_was_the_oldest_first() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    for text in ["one", "two", ""] {
        assert_eq!(spool.put(&traces(3, text.as_bytes())), Ok(()));
    }
    spool.put(&logs(5, b"a record")).unwrap();
    spool.put(&Entry { encoding: Encoding::Json, ..traces(7, b"{}") }).unwrap();
    let figures = spool.figures();
    assert_eq!((figures.files, figures.bytes), (5, 5 * 4096));
    assert_eq!(figures.items, Items { traces: 3 * 3 + 7, logs: 5 });

    let first = next(&spool).unwrap();
    assert_eq!((&first.bytes[..], first.items, first.account.is_some()), (&b"one"[..], 3, true));
    assert!(spool.inner.age(&first.name) < LONG);
    first.done();
    assert_eq!(drain(&spool), ["two", ""]);
    assert_eq!(spool.bytes(), 2 * 4096);
    assert_eq!(spool.next(Spooled::Logs, Encoding::Protobuf).unwrap().bytes, "a record");
    assert_eq!(spool.next(Spooled::Traces, Encoding::Json).unwrap().bytes, "{}");
    assert!(spool.next(Spooled::Logs, Encoding::Json).is_none());
}

#[test]
fn what_is_claimed_is_nobody_elses_until_it_is_given_back() {
    let scratch = Scratch::new();
    let (spool, another) = (scratch.open(PLENTY), scratch.open(PLENTY));
    spool.put(&traces(1, b"one")).unwrap();
    spool.put(&traces(1, b"two")).unwrap();
    let one = next(&spool).unwrap();
    let two = next(&another).unwrap();
    assert_eq!((&one.bytes[..], &two.bytes[..]), (&b"one"[..], &b"two"[..]));
    assert_eq!((one.account.is_some(), two.account.is_some()), (true, false));
    assert!(next(&spool).is_none() && next(&another).is_none());
    one.back();
    drop(two);
    assert_eq!(drain(&spool), ["one", "two"]);
    assert!(next(&another).is_none());
    assert_eq!(spool.figures(), Figures::default());
}

#[test]
fn what_is_gone_when_its_lock_is_had_is_not_taken() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    let path = scratch.directory().join(scratch.names().remove(0));
    let claimed = next(&spool).unwrap();
    // Another process opens the file, and gets the lock only after this one has removed it.
    let opened = directory::open(&path).unwrap();
    claimed.done();
    assert!(claim::Held::lock(opened, path).is_none());
}

#[test]
fn what_was_sent_and_could_not_be_removed_is_not_handed_out_again() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    spool.put(&traces(1, b"one")).unwrap();
    let name = scratch.names()[0].parse().unwrap();
    lock(&spool.inner.known).handled.insert(name);
    lock(&spool.inner.known).waiting.clear();
    assert!(next(&spool).is_none());
    // The request is not claimed even if the directory was missing for a while.
    let away = scratch.0.join("away");
    fs::rename(scratch.directory(), &away).unwrap();
    assert!(next(&spool).is_none());
    fs::rename(&away, scratch.directory()).unwrap();
    assert!(next(&spool).is_none());
    assert_eq!(spool.figures().files, 1);
}

#[test]
fn a_later_process_finds_what_an_earlier_one_left() {
    let scratch = Scratch::new();
    scratch.open(PLENTY).put(&traces(2, b"left")).unwrap();
    let spool = scratch.open(PLENTY);
    let left = next(&spool).unwrap();
    assert_eq!((&left.bytes[..], left.items, left.account.is_some()), (&b"left"[..], 2, false));
}

#[test]
fn threads_share_a_spool() {
    let scratch = Scratch::new();
    let spool = scratch.open(PLENTY);
    let taken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (spool, taken) = (spool.clone(), &taken);
            scope.spawn(move || {
                for number in 0..25 {
                    spool.put(&traces(1, format!("{thread}-{number:02}").as_bytes())).unwrap();
                    if let Some(claimed) = next(&spool) {
                        taken.lock().unwrap().push(String::from_utf8(claimed.bytes.to_vec()).unwrap());
                        claimed.done();
                    }
                }
            });
        }
    });
    let mut taken = taken.into_inner().unwrap();
    taken.extend(drain(&spool));
    taken.sort();
    let all: Vec<_> = (0..4).flat_map(|thread| (0..25).map(move |number| format!("{thread}-{number:02}"))).collect();
    assert_eq!(taken, all);
}

#[test]
fn names_say_nothing_but_numbers() {
    let scratch = Scratch::new();
    scratch.open(PLENTY).put(&traces(12, b"secret")).unwrap();
    let names = scratch.names();
    let [name] = &names[..] else { panic!("{names:?}") };
    assert!(name.ends_with("-12-46-traces-protobuf.tcspool"), "{name}");
    assert_eq!(name.parse::<Name>().unwrap().to_string(), *name);
}

#[test]
fn files_that_somebody_removed_are_lost_once() {
    let scratch = Scratch::new();
    let (spool, other) = (scratch.open(PLENTY), scratch.open(PLENTY));
    (1..=4).for_each(|items| assert!(spool.put(&traces(items, b"spans")).is_ok()));
    other.put(&traces(100, b"spans")).unwrap();
    spool.verify();
    assert_eq!(spool.lost(), Lost::default());
    // The oldest is in flight; removing its file is no loss, unless it is released.
    let first = next(&spool).unwrap();
    scratch.names().iter().for_each(|name| fs::remove_file(scratch.directory().join(name)).unwrap());
    (0..2).for_each(|_| spool.verify());
    assert_eq!(spool.lost(), Lost { missing: Items { traces: 2 + 3 + 4, logs: 0 }, ..Lost::default() });
    drop(first);
    spool.verify();
    assert_eq!(spool.lost().missing.traces, 1 + 2 + 3 + 4);
    assert_eq!(other.lost(), Lost::default(), "it has not looked yet");
    assert!(next(&other).is_none(), "looking for something to send finds out, too");
    assert_eq!(other.lost().missing.traces, 100);
}
