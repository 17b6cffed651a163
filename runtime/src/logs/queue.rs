//! The queue of records for the export thread. It is bounded by bytes; records that do not fit are dropped and counted.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::vec;

use tokio::sync::Notify;

use super::record::LogRecord;
use crate::base::sync::lock;

/// Counts of the events that should have become records, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogCounts {
    /// All events, including dropped ones.
    pub(crate) recorded: u64,
    /// Dropped events: the queue was full, or the event was logged while its thread was handling another one.
    pub(crate) dropped: u64,
    /// Records in the queue.
    pub(crate) waiting: u64,
}

#[derive(Debug)]
pub(super) struct Queue {
    limit: AtomicUsize,
    /// The bytes of all records in the queue.
    bytes: AtomicUsize,
    waiting: Mutex<Vec<LogRecord>>,
    /// Records that the consumer has taken from `waiting`, all at once, so that threads that log rarely wait for its
    /// lock. Only the consumer locks this field.
    taken: Mutex<vec::IntoIter<LogRecord>>,
    /// Notified when a quarter of the queue is full.
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

    /// Counts an event whose record was dropped before it was created.
    pub(super) fn lose(&self) {
        self.recorded.fetch_add(1, Relaxed);
        self.dropped.fetch_add(1, Relaxed);
    }

    /// Takes the oldest record; `None` if the queue is empty. Threads that log wait at most for the swap of two
    /// pointers.
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
        // `recorded` is read last: an event is counted there before it is handed out or dropped.
        let (handed_out, dropped) = (self.handed_out.load(Relaxed), self.dropped.load(Relaxed));
        let recorded = self.recorded.load(Relaxed);
        LogCounts { recorded, dropped, waiting: recorded.saturating_sub(dropped + handed_out) }
    }
}
