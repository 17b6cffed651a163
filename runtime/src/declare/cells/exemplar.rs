//! What a histogram remembers of its exemplars: which buckets have taken one since the last collection.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::base::sync::AtomicU64 as Word;

/// Buckets whose bits fit beside the epoch.
const SLOTS: usize = 32;

/// A measurement and the span in which it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exemplar {
    pub(crate) value: f64,
    /// When it was taken, while the table's exemplars were locked: a reader that locks them later sees a later reading.
    pub(crate) ticks: u64,
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
}

/// How many collections there were.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// How many collections there were until now.
pub(crate) fn epoch() -> u64 {
    EPOCH.load(Relaxed)
}

/// From now on each bucket may take one again.
pub(crate) fn next_epoch() {
    EPOCH.fetch_add(1, Relaxed);
}

/// Which buckets of a row have taken one, and in which epoch, in one word.
#[repr(transparent)]
pub(crate) struct Taking(Word);

impl Taking {
    /// Whether `bucket` has taken one in this epoch.
    #[inline(always)]
    pub(crate) fn has(&self, bucket: usize) -> bool {
        has(self.0.load(Relaxed), bucket, EPOCH.load(Relaxed))
    }

    /// `bucket` has taken one. Threads that share a row may forget each other's, and then take another one.
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
