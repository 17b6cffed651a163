//! Each thread's counters and published state. A thread writes its own without contention; any thread may read them.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::record::published::Published;

/// The reason why a sampled span was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Reason {
    /// No chunk was free: spans end faster than the reader takes them.
    SpanBufferFull,
    /// No block was free: too many spans are open.
    TooManyOpenSpans,
    /// The thread's storage was already gone.
    ThreadExit,
}

pub(crate) const REASONS: usize = 3;

/// The counters of a thread, reused after its end: they only grow, and the next thread continues them.
pub(crate) struct ThreadCounts {
    claimed: AtomicBool,
    next: AtomicPtr<ThreadCounts>,
    pub(crate) started: AtomicU64,
    pub(crate) ended: AtomicU64,
    pub(crate) dropped: [AtomicU64; REASONS],
    /// Spans and contexts that were still entered when an outer one ended.
    pub(crate) cut_off: AtomicU64,
    pub(crate) published: Published,
}

impl ThreadCounts {
    fn new() -> Self {
        ThreadCounts {
            claimed: AtomicBool::new(true),
            next: AtomicPtr::new(ptr::null_mut()),
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            dropped: [const { AtomicU64::new(0) }; REASONS],
            cut_off: AtomicU64::new(0),
            published: Published::new(),
        }
    }

    /// Makes the counters available to the next thread.
    pub(crate) fn release(&self) {
        self.published.clear();
        self.claimed.store(false, Release);
    }
}

/// Increments a counter that only the calling thread writes, without a locked instruction.
#[inline(always)]
pub(crate) fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
}

/// The list of all counters. Counters are reused and never freed, so there are at most as many as threads ran at the same time.
pub(crate) struct Threads {
    head: AtomicPtr<ThreadCounts>,
}

impl Threads {
    pub(crate) const fn new() -> Self {
        Threads { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns counters for the calling thread alone, until it releases them.
    pub(crate) fn claim(&self) -> &'static ThreadCounts {
        let unclaimed = |counts: &&ThreadCounts| counts.claimed.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        self.iter().find(unclaimed).unwrap_or_else(|| self.add())
    }

    fn add(&self) -> &'static ThreadCounts {
        let new: &'static ThreadCounts = Box::leak(Box::new(ThreadCounts::new()));
        let mut head = self.head.load(Relaxed);
        loop {
            new.next.store(head, Relaxed);
            match self.head.compare_exchange_weak(head, ptr::from_ref(new).cast_mut(), Release, Relaxed) {
                Ok(_) => return new,
                Err(now) => head = now,
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static ThreadCounts> {
        // SAFETY: only `add` stores here, and only leaked boxes; the Acquire pairs with its Release.
        let follow = |link: &AtomicPtr<ThreadCounts>| unsafe { link.load(Acquire).as_ref() };
        std::iter::successors(follow(&self.head), move |counts| follow(&counts.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_used_again_and_keep_their_counts() {
        static THREADS: Threads = Threads::new();
        let threads = &THREADS;
        let first = threads.claim();
        let second = threads.claim();
        assert!(!ptr::eq(first, second));
        bump(&first.ended);
        first.release();
        let third = threads.claim();
        assert!(ptr::eq(first, third));
        bump(&third.ended);
        assert_eq!(threads.iter().map(|counts| counts.ended.load(Relaxed)).sum::<u64>(), 2);
    }
}
