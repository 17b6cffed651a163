//! The newest XIDs of each GPU, for spans that work on it.
//!
//! The thread that waits for XIDs writes them and the program's threads read them, with atomics only, so no thread blocks.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Duration;

use crate::gpu::metrics::MOST_GPUS;

/// XIDs kept per GPU.
const KEPT: usize = 8;
/// Bits of the XID's number; the other bits are milliseconds since 1970.
const NUMBER_BITS: u32 = 20;
const MOST: u64 = (1 << NUMBER_BITS) - 1;

struct Ring {
    /// The number of XIDs since the process started.
    count: AtomicU64,
    xids: [AtomicU64; KEPT],
}

static RINGS: [Ring; MOST_GPUS as usize] =
    [const { Ring { count: AtomicU64::new(0), xids: [const { AtomicU64::new(0) }; KEPT] } }; MOST_GPUS as usize];

/// An XID and its time since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recent {
    pub(crate) number: u64,
    pub(crate) time: Duration,
}

/// Adds an XID of a GPU.
pub(crate) fn push(gpu: u32, xid: Recent) {
    if let Some(ring) = RINGS.get(gpu as usize) {
        let count = ring.count.load(Relaxed);
        let millis = xid.time.as_millis() as u64;
        ring.xids[count as usize % KEPT].store(millis << NUMBER_BITS | xid.number.min(MOST), Relaxed);
        ring.count.store(count + 1, Release);
    }
}

/// Returns the number of a GPU's XIDs so far.
pub(crate) fn count(gpu: u32) -> u64 {
    RINGS.get(gpu as usize).map_or(0, |ring| ring.count.load(Acquire))
}

/// Returns the XIDs after the first `seen`, the oldest first; at most the newest `KEPT`.
pub(crate) fn since(gpu: u32, seen: u64) -> impl Iterator<Item = Recent> {
    let count = count(gpu);
    let first = seen.max(count.saturating_sub(KEPT as u64));
    let ring = RINGS.get(gpu as usize).filter(|_| first < count);
    ring.into_iter().flat_map(move |ring| {
        (first..count).map(|at| {
            let packed = ring.xids[at as usize % KEPT].load(Relaxed);
            Recent { number: packed & MOST, time: Duration::from_millis(packed >> NUMBER_BITS) }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xid(number: u64) -> Recent {
        Recent { number, time: Duration::from_millis(1_800_000_000_123 + number) }
    }

    #[test]
    fn the_newest_are_kept_in_their_order() {
        let seen = count(31);
        assert_eq!(since(31, seen).count(), 0);
        (1..=3).for_each(|number| push(31, xid(number)));
        assert_eq!(since(31, seen).collect::<Vec<_>>(), [xid(1), xid(2), xid(3)]);
        assert_eq!(since(31, seen + 2).collect::<Vec<_>>(), [xid(3)]);
        (4..=20).for_each(|number| push(31, xid(number)));
        assert_eq!(since(31, seen).collect::<Vec<_>>(), (13..=20).map(xid).collect::<Vec<_>>());
    }

    #[test]
    fn a_gpu_that_is_out_of_range_has_none() {
        push(MOST_GPUS, xid(1));
        assert_eq!((count(MOST_GPUS), since(MOST_GPUS, 0).count()), (0, 0));
    }
}
