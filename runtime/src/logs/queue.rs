//! Records that wait for the collector. Bounded by bytes; what does not fit is dropped and counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::LogRecord;

/// What became of events that should have become records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogCounts {
    /// All of them; those that were dropped too.
    pub(crate) recorded: u64,
    /// The queue was full, or the event was made while another one was being written on the same thread.
    pub(crate) dropped: u64,
    /// Not taken yet.
    pub(crate) waiting: u64,
}

#[derive(Debug)]
pub(super) struct Queue {
    limit: usize,
    waiting: Mutex<Waiting>,
    recorded: AtomicU64,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    records: Vec<LogRecord>,
    bytes: usize,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Queue { limit, waiting: Mutex::default(), recorded: AtomicU64::new(0), dropped: AtomicU64::new(0) }
    }

    pub(super) fn push(&self, record: LogRecord) {
        let bytes = record.bytes();
        self.recorded.fetch_add(1, Relaxed);
        let mut waiting = self.lock();
        if waiting.bytes.saturating_add(bytes) > self.limit {
            self.dropped.fetch_add(1, Relaxed);
            return;
        }
        waiting.bytes += bytes;
        waiting.records.push(record);
    }

    /// Counts an event of which no record was made.
    pub(super) fn lose(&self) {
        self.recorded.fetch_add(1, Relaxed);
        self.dropped.fetch_add(1, Relaxed);
    }

    /// Takes all that wait. They are handed out after the lock is given back: nobody who logs waits for that.
    pub(super) fn take(&self, f: impl FnMut(LogRecord)) {
        let records = std::mem::take(&mut *self.lock()).records;
        records.into_iter().for_each(f);
    }

    pub(super) fn counts(&self) -> LogCounts {
        let waiting = self.lock().records.len() as u64;
        LogCounts { recorded: self.recorded.load(Relaxed), dropped: self.dropped.load(Relaxed), waiting }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
