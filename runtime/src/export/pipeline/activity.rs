//! Tracks whether the export thread makes progress. Other threads can read this state while the export thread is stuck.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Activity {
    origin: Instant,
    /// Nanoseconds from `origin` to the last progress; 0 while the thread is idle.
    at: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Activity { origin: Instant::now(), at: AtomicU64::new(0) }
    }

    /// Notes progress.
    pub(super) fn progress(&self) {
        let nanos = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.at.store(nanos.max(1), Relaxed);
    }

    /// Notes that the thread is idle.
    pub(super) fn idle(&self) {
        self.at.store(0, Relaxed);
    }

    /// Returns how long the thread has been busy without progress; zero while it is idle.
    pub(super) fn stalled(&self) -> Duration {
        match self.at.load(Relaxed) {
            0 => Duration::ZERO,
            nanos => self.origin.elapsed().saturating_sub(Duration::from_nanos(nanos)),
        }
    }
}
