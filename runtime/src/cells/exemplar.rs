//! What a histogram remembers of its exemplars: which buckets have taken one since the last collection.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets whose bits fit beside the epoch.
const SLOTS: usize = 32;

/// A measurement and the span in which it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exemplar {
    pub(crate) value: f64,
    pub(crate) ticks: u64,
    pub(crate) trace_id: u128,
    pub(crate) span_id: u64,
    /// When it was taken: collections until then.
    pub(crate) epoch: u64,
}

/// How many collections there were.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// The collection that an exemplar of now waits for.
pub(crate) fn epoch() -> u64 {
    EPOCH.load(Relaxed)
}

/// From now on each bucket may take one again. Gives the epoch that has just ended.
pub(crate) fn next_epoch() -> u64 {
    EPOCH.fetch_add(1, Relaxed)
}

/// Which buckets of a row have taken one, and in which epoch, in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken(pub(crate) u64);

impl Taken {
    #[inline(always)]
    fn is_of(self, epoch: u64) -> bool {
        self.0 >> SLOTS == epoch & (u64::MAX >> SLOTS)
    }

    /// Whether `bucket` has taken one in this epoch.
    #[inline(always)]
    pub(crate) fn has(self, bucket: usize) -> bool {
        self.is_of(EPOCH.load(Relaxed)) && self.0 >> (bucket % SLOTS) & 1 != 0
    }

    /// The same after `bucket` has taken one.
    pub(crate) fn with(self, bucket: usize, epoch: u64) -> Self {
        let before = if self.is_of(epoch) { self.0 & ((1 << SLOTS) - 1) } else { 0 };
        Taken(epoch << SLOTS | before | 1 << (bucket % SLOTS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_takes_one_per_epoch() {
        let taken = Taken(0).with(3, 7).with(34, 7);
        let has = |taken: Taken, bucket: usize, epoch| taken.is_of(epoch) && taken.0 >> (bucket % SLOTS) & 1 != 0;
        assert!(has(taken, 3, 7) && has(taken, 2, 7) && !has(taken, 4, 7) && !has(taken, 3, 8));
        assert!(!has(taken.with(1, 8), 3, 8) && has(taken.with(1, 8), 1, 8));
    }
}
