//! A table of bounded size that maps texts to values and is read without a lock.
//!
//! A lookup hashes once and probes a few buckets. Only an insertion takes the mutex, and there are at most `capacity`
//! insertions. Entries are never removed, because callers hold references to them. The hash is seeded, because peers may
//! choose the texts.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

use foldhash::fast::RandomState;

pub(crate) struct Table<T> {
    capacity: usize,
    inner: OnceLock<Inner<T>>,
    refused: AtomicU64,
}

type Entry<T> = OnceLock<(Box<str>, T)>;

struct Inner<T> {
    /// Ordinal + 1 of the entry, 0 for none. There are at least twice as many buckets as entries, so that probing ends.
    buckets: Box<[AtomicU32]>,
    entries: Box<[Entry<T>]>,
    /// The number of entries. The number is increased after the bucket of a new entry is set.
    used: AtomicUsize,
    inserting: Mutex<()>,
    hasher: RandomState,
}

impl<T> Table<T> {
    pub(crate) const fn new(capacity: usize) -> Self {
        Table { capacity, inner: OnceLock::new(), refused: AtomicU64::new(0) }
    }

    /// Returns the ordinal of `text`. Inserts a new text with the value that `make` returns for its ordinal. If a new text
    /// cannot be inserted, normally because the table is full, counts the refusal and returns `None`.
    pub(crate) fn resolve(&self, text: &str, make: impl FnOnce(usize) -> T) -> Option<usize> {
        let inner = self.inner();
        // Read before the search: if the table was full by then, the search saw every entry.
        let is_full = inner.used.load(Acquire) == inner.entries.len();
        let found = inner.find(text).or_else(|| if is_full { None } else { inner.insert(text, make) });
        if found.is_none() {
            self.refused.fetch_add(1, Relaxed);
        }
        found
    }

    pub(crate) fn get(&self, ordinal: usize) -> Option<(&str, &T)> {
        let (text, value) = self.inner.get()?.entries.get(ordinal)?.get()?;
        Some((text, value))
    }

    /// Returns how often `resolve` returned `None`.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    fn inner(&self) -> &Inner<T> {
        self.inner.get_or_init(|| Inner {
            buckets: (0..(self.capacity * 2).next_power_of_two().max(2)).map(|_| AtomicU32::new(0)).collect(),
            entries: (0..self.capacity).map(|_| OnceLock::new()).collect(),
            used: AtomicUsize::new(0),
            inserting: Mutex::new(()),
            hasher: RandomState::default(),
        })
    }
}

impl<T> Inner<T> {
    /// Returns the buckets that may hold `text`, in probing order.
    fn probes(&self, text: &str) -> impl Iterator<Item = &AtomicU32> {
        let mask = self.buckets.len() - 1;
        let first = self.hasher.hash_one(text) as usize;
        (0..=mask).map(move |step| &self.buckets[first.wrapping_add(step) & mask])
    }

    fn find(&self, text: &str) -> Option<usize> {
        for bucket in self.probes(text) {
            let ordinal = (bucket.load(Acquire) as usize).checked_sub(1)?;
            if self.entries[ordinal].get().is_some_and(|(entry, _)| **entry == *text) {
                return Some(ordinal);
            }
        }
        None
    }

    /// Locks the table for an insertion. Waits a limited time for another thread that inserts, then returns `None`: after a
    /// fork that thread may not exist.
    fn lock(&self) -> Option<MutexGuard<'_, ()>> {
        #[cfg(test)]
        tests::LOCKS.set(tests::LOCKS.get() + 1);
        (0..10_000).find_map(|_| match self.inserting.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                None
            }
        })
    }

    fn insert(&self, text: &str, make: impl FnOnce(usize) -> T) -> Option<usize> {
        let _guard = self.lock()?;
        // Another thread may have inserted the text before the lock was taken.
        if let Some(ordinal) = self.find(text) {
            return Some(ordinal);
        }
        let ordinal = self.used.load(Relaxed);
        let entry = self.entries.get(ordinal)?;
        let bucket = self.probes(text).find(|bucket| bucket.load(Relaxed) == 0)?;
        entry.set((text.into(), make(ordinal))).ok()?;
        bucket.store(ordinal as u32 + 1, Release);
        self.used.store(ordinal + 1, Release);
        Some(ordinal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// The number of times that this thread took the mutex of a table.
        pub(super) static LOCKS: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn gives_each_text_one_ordinal_and_refuses_past_the_cap() {
        let table = Table::new(2);
        assert_eq!(table.resolve("a", |_| 'a'), Some(0));
        assert_eq!(table.resolve("b", |_| 'b'), Some(1));
        assert_eq!(table.resolve("a", |_| unreachable!()), Some(0));
        assert_eq!(table.resolve("c", |_| 'c'), None);
        assert_eq!(table.resolve("c", |_| 'c'), None);
        assert_eq!((table.get(1), table.get(2), table.refused()), (Some(("b", &'b')), None, 2));
    }

    #[test]
    fn a_full_table_takes_no_lock() {
        let table = Table::new(1);
        let resolved = ["a", "a", "b", "c"].map(|text| table.resolve(text, |_| ()));
        assert_eq!((resolved, LOCKS.get()), ([Some(0), Some(0), None, None], 1));
    }

    #[test]
    fn tables_hash_with_seeds_of_their_own() {
        let [one, other] = [Table::<()>::new(1), Table::<()>::new(1)];
        let hash = |table: &Table<()>| table.inner().hasher.hash_one("a");
        assert_ne!(hash(&one), hash(&other));
    }

    #[test]
    fn threads_agree_on_ordinals() {
        let table = Table::new(16);
        let seen: Vec<Vec<_>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| (0..20).map(|n| table.resolve(&n.to_string(), |_| ())).collect()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for text in 0..20 {
            let ordinals: Vec<_> = seen.iter().filter_map(|thread: &Vec<Option<usize>>| thread[text]).collect();
            assert!(ordinals.windows(2).all(|pair| pair[0] == pair[1]), "{text}: {ordinals:?}");
        }
        assert!((0..16).all(|ordinal| table.get(ordinal).is_some()));
    }
}
