//! A capped table from text to something, read without a lock.
//!
//! Readers hash once and follow at most a few buckets; writers take a mutex, and there are at most `capacity` of them.
//! What was inserted stays for ever: entries are handed out by reference.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

pub(crate) struct Table<T> {
    capacity: usize,
    inner: OnceLock<Inner<T>>,
    refused: AtomicU64,
}

type Entry<T> = OnceLock<(Box<str>, T)>;

struct Inner<T> {
    /// Ordinal + 1 of the entry, 0 for none. Twice as many as entries, so that probing ends.
    buckets: Box<[AtomicU32]>,
    entries: Box<[Entry<T>]>,
    used: Mutex<usize>,
}

impl<T> Table<T> {
    pub(crate) const fn new(capacity: usize) -> Self {
        Table { capacity, inner: OnceLock::new(), refused: AtomicU64::new(0) }
    }

    /// The ordinal of `text`, and of its entry, which is made if there is room; else `None`, counted.
    pub(crate) fn resolve(&self, text: &str, make: impl FnOnce(usize) -> T) -> Option<usize> {
        let inner = self.inner();
        let found = inner.find(text).or_else(|| inner.insert(text, make));
        if found.is_none() {
            self.refused.fetch_add(1, Relaxed);
        }
        found
    }

    pub(crate) fn get(&self, ordinal: usize) -> Option<(&str, &T)> {
        let (text, value) = self.inner.get()?.entries.get(ordinal)?.get()?;
        Some((text, value))
    }

    /// How often something was not found and had no room.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    fn inner(&self) -> &Inner<T> {
        self.inner.get_or_init(|| Inner {
            buckets: (0..(self.capacity * 2).next_power_of_two().max(2)).map(|_| AtomicU32::new(0)).collect(),
            entries: (0..self.capacity).map(|_| OnceLock::new()).collect(),
            used: Mutex::new(0),
        })
    }
}

impl<T> Inner<T> {
    /// The buckets in which `text` may stand, in the order in which they are tried.
    fn probes(&self, text: &str) -> impl Iterator<Item = &AtomicU32> {
        let mask = self.buckets.len() - 1;
        let first = fnv1a(text) as usize;
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

    /// Waits for another thread that inserts, but not for ever: it may have been left behind by a fork.
    fn lock(&self) -> Option<MutexGuard<'_, usize>> {
        (0..10_000).find_map(|_| match self.used.try_lock() {
            Ok(used) => Some(used),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                None
            }
        })
    }

    fn insert(&self, text: &str, make: impl FnOnce(usize) -> T) -> Option<usize> {
        let mut used = self.lock()?;
        // Another thread may have been faster.
        if let Some(ordinal) = self.find(text) {
            return Some(ordinal);
        }
        let ordinal = *used;
        let entry = self.entries.get(ordinal)?;
        let bucket = self.probes(text).find(|bucket| bucket.load(Relaxed) == 0)?;
        entry.set((text.into(), make(ordinal))).ok()?;
        bucket.store(ordinal as u32 + 1, Release);
        *used += 1;
        Some(ordinal)
    }
}

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

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
