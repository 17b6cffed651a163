//! Records that wait for the export thread. Bounded by bytes; what does not fit is dropped and counted.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::vec;

use tokio::sync::Notify;

use super::record::LogRecord;
use crate::base::sync::lock;

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
    limit: AtomicUsize,
    /// Bytes of all records that were not handed out.
    bytes: AtomicUsize,
    waiting: Mutex<Vec<LogRecord>>,
    /// Older ones, out of the way of those who log. Only those who take lock it.
    taken: Mutex<vec::IntoIter<LogRecord>>,
    /// Told when a quarter of the queue is full.
    filling: Arc<Notify>,
    recorded: AtomicU64,
    dropped: AtomicU64,
    handed_out: AtomicU64,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Queue {
            limit: AtomicUsize::new(limit),
            bytes: AtomicUsize::new(0),
            waiting: Mutex::default(),
            taken: Mutex::default(),
            filling: Arc::default(),
            recorded: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            handed_out: AtomicU64::new(0),
        }
    }

    pub(super) fn push(&self, record: LogRecord) {
        let (bytes, limit) = (record.bytes(), self.limit.load(Relaxed));
        self.recorded.fetch_add(1, Relaxed);
        let mut waiting = lock(&self.waiting);
        let before = self.bytes.load(Relaxed);
        if before.saturating_add(bytes) > limit {
            self.dropped.fetch_add(1, Relaxed);
            return;
        }
        self.bytes.fetch_add(bytes, Relaxed);
        waiting.push(record);
        drop(waiting);
        if before < limit / 4 && before + bytes >= limit / 4 {
            self.filling.notify_one();
        }
    }

    /// Counts an event of which no record was made.
    pub(super) fn lose(&self) {
        self.recorded.fetch_add(1, Relaxed);
        self.dropped.fetch_add(1, Relaxed);
    }

    /// Takes the oldest. Nobody who logs waits for longer than it takes to swap two pointers.
    pub(super) fn next(&self) -> Option<LogRecord> {
        let mut taken = lock(&self.taken);
        let record = taken.next().or_else(|| {
            *taken = std::mem::take(&mut *lock(&self.waiting)).into_iter();
            taken.next()
        })?;
        self.bytes.fetch_sub(record.bytes(), Relaxed);
        self.handed_out.fetch_add(1, Relaxed);
        Some(record)
    }

    pub(super) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    pub(super) fn filling(&self) -> Arc<Notify> {
        self.filling.clone()
    }

    pub(super) fn counts(&self) -> LogCounts {
        // In this order: none is handed out or dropped before it is recorded.
        let (handed_out, dropped) = (self.handed_out.load(Relaxed), self.dropped.load(Relaxed));
        let recorded = self.recorded.load(Relaxed);
        LogCounts { recorded, dropped, waiting: recorded.saturating_sub(dropped + handed_out) }
    }
}
