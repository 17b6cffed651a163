//! A lock-free stack of indices `0..capacity`: the free places of a pool.
//!
//! Indices that were never in use are handed out in increasing order, so that the memory of higher indices stays untouched.

use crate::base::memory::{self, Places};
use crate::base::sync::{AcqRel, Acquire, AtomicU32, AtomicU64, Relaxed, Release};

pub(crate) struct IndexStack {
    /// Upper half: a tag that changes with every exchange, against ABA. Lower half: index + 1 of the top, 0 for none.
    head: AtomicU64,
    /// For each index on the stack, the index + 1 of the next lower entry, 0 for none.
    below: Links,
    /// The first index that was never handed out.
    fresh: AtomicU32,
    /// The first index that was not prepared.
    ready: AtomicU32,
    places: Places,
}

impl IndexStack {
    pub(crate) fn new(places: Places) -> Self {
        IndexStack {
            head: AtomicU64::new(0),
            below: links(places.count),
            fresh: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            places,
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        while let Some(top) = (head as u32).checked_sub(1) {
            // If another thread pops and pushes the top meanwhile, `below` is stale: the tag has changed, so the exchange fails.
            let below = self.below[top as usize].load(Relaxed);
            match self.head.compare_exchange_weak(head, next_tag(head) | u64::from(below), AcqRel, Acquire) {
                Ok(_) => return Some(top),
                Err(now) => head = now,
            }
        }
        self.pop_fresh()
    }

    fn pop_fresh(&self) -> Option<u32> {
        let mut index = self.fresh.load(Relaxed);
        while (index as usize) < self.places.count {
            let bytes = if (index as usize) < self.places.reserved { 0 } else { self.places.bytes };
            if !memory::SHARED.take(bytes) {
                return None;
            }
            match self.fresh.compare_exchange_weak(index, index + 1, Relaxed, Relaxed) {
                Ok(_) => return Some(index),
                Err(now) => index = now,
            }
            memory::SHARED.give_back(bytes);
        }
        None
    }

    pub(crate) fn push(&self, index: u32) {
        let mut head = self.head.load(Relaxed);
        loop {
            self.below[index as usize].store(head as u32, Relaxed);
            match self.head.compare_exchange_weak(head, next_tag(head) | u64::from(index + 1), Release, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Calls `prepare` with those of the next `ahead` fresh indices that are not prepared yet. Does nothing if all of them are
    /// prepared, or if no index was ever handed out.
    #[cfg(not(loom))]
    pub(crate) fn prepare(&self, ahead: usize, prepare: impl FnOnce(std::ops::Range<usize>)) {
        let (fresh, ready) = (self.touched(), self.ready.load(Relaxed) as usize);
        let end = (fresh + ahead).min(self.places.count);
        // If no fresh index was handed out since the last call, the prepared indices suffice.
        if fresh > 0 && end > ready {
            self.ready.store(end as u32, Relaxed);
            prepare(ready.max(fresh)..end);
        }
    }

    /// Returns the number of reserved places, which take nothing from the shared memory.
    pub(crate) fn reserved(&self) -> usize {
        self.places.reserved
    }

    /// Returns the number of indices that were handed out at least once.
    pub(crate) fn touched(&self) -> usize {
        self.fresh.load(Relaxed) as usize
    }
}

#[cfg(not(loom))]
type Links = memory::Region<AtomicU32>;

#[cfg(not(loom))]
fn links(count: usize) -> Links {
    // SAFETY: zero is a valid `AtomicU32`.
    unsafe { Links::zeroed(count) }
}

#[cfg(loom)]
type Links = Box<[AtomicU32]>;

#[cfg(loom)]
fn links(count: usize) -> Links {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

fn next_tag(head: u64) -> u64 {
    (head >> 32).wrapping_add(1) << 32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hands_out_each_index_once() {
        let stack = IndexStack::new(Places::fixed(3));
        assert_eq!([stack.pop(), stack.pop(), stack.pop(), stack.pop()], [Some(0), Some(1), Some(2), None]);
        stack.push(1);
        stack.push(0);
        assert_eq!([stack.pop(), stack.pop(), stack.pop()], [Some(0), Some(1), None]);
        assert_eq!(stack.touched(), 3);
    }

    #[test]
    fn threads_never_share_an_index() {
        let stack = IndexStack::new(Places::fixed(4));
        let held: Vec<_> = (0..4).map(|_| std::sync::atomic::AtomicBool::new(false)).collect();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
                        let Some(index) = stack.pop() else { continue };
                        assert!(!held[index as usize].swap(true, AcqRel), "{index} was handed out twice");
                        held[index as usize].store(false, Release);
                        stack.push(index);
                    }
                });
            }
        });
        let mut left: Vec<_> = std::iter::from_fn(|| stack.pop()).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2, 3]);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;

    #[test]
    fn two_threads_never_hold_the_same_index() {
        loom::model(|| {
            let stack = loom::sync::Arc::new(IndexStack::new(Places::fixed(2)));
            let (a, b) = (stack.pop(), stack.pop());
            stack.push(a.unwrap());
            stack.push(b.unwrap());
            let other = stack.clone();
            let thread = loom::thread::spawn(move || {
                let first = other.pop();
                other.push(first.unwrap());
                other.pop()
            });
            let mine = stack.pop();
            let theirs = thread.join().unwrap();
            assert!(mine.is_some() && theirs.is_some());
            assert_ne!(mine, theirs);
        });
    }
}
