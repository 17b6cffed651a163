//! Tracks which buckets of a histogram have taken an exemplar since the last collection.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::base::sync::AtomicU64 as Word;

/// The number of bits beside the epoch, one for each bucket. If a row has more buckets, several buckets share a bit.
const SLOTS: usize = 32;

/// A measurement and the span in which it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exemplar {
    pub(crate) value: f64,
    /// The time in ticks. It is read while the table's exemplars are locked, so it is earlier than the time of any reader that
    /// locks them afterwards.
    pub(crate) ticks: u64,
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
}

/// The number of the current epoch. Each collection begins a new one.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// Returns the number of the current epoch.
pub(crate) fn epoch() -> u64 {
    EPOCH.load(Relaxed)
}

/// Begins the next epoch, in which each bucket may take an exemplar again.
pub(crate) fn next_epoch() {
    EPOCH.fetch_add(1, Relaxed);
}

/// An epoch and the buckets of a row that have taken an exemplar in that epoch, in one word.
#[repr(transparent)]
pub(crate) struct Taking(Word);

impl Taking {
    /// Returns whether `bucket`, or a bucket that shares its bit, has taken an exemplar in the current epoch.
    #[inline(always)]
    pub(crate) fn has(&self, bucket: usize) -> bool {
        has(self.0.load(Relaxed), bucket, EPOCH.load(Relaxed))
    }

    /// Marks that `bucket` has taken an exemplar in `epoch`. Threads that share a row may overwrite each other's mark; then a
    /// bucket takes another exemplar.
    pub(crate) fn took(&self, bucket: usize, epoch: u64) {
        self.0.store(with(self.0.load(Relaxed), bucket, epoch), Relaxed);
    }
}

#[inline(always)]
fn is_of(taken: u64, epoch: u64) -> bool {
    taken >> SLOTS == epoch & (u64::MAX >> SLOTS)
}

#[inline(always)]
fn has(taken: u64, bucket: usize, epoch: u64) -> bool {
    is_of(taken, epoch) && taken >> (bucket % SLOTS) & 1 != 0
}

fn with(taken: u64, bucket: usize, epoch: u64) -> u64 {
    let before = if is_of(taken, epoch) { taken & ((1 << SLOTS) - 1) } else { 0 };
    epoch << SLOTS | before | 1 << (bucket % SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_takes_one_per_epoch() {
        let taken = with(with(0, 3, 7), 34, 7);
        assert!(has(taken, 3, 7) && has(taken, 2, 7) && !has(taken, 4, 7) && !has(taken, 3, 8));
        assert!(!has(with(taken, 1, 8), 3, 8) && has(with(taken, 1, 8), 1, 8));
    }
}
