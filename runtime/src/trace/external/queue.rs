//! The queue of external spans for the export thread. It is bounded by bytes; spans that do not fit are dropped and counted.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(any(has_otel, has_tracing))]
use std::time::Duration;

use crate::record::finished::FinishedSpan;

/// The number of external spans by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Sampled spans that ended while queueing was on, including the dropped ones.
    pub(crate) ended: u64,
    /// Spans dropped because the queue was full.
    pub(crate) dropped: u64,
    /// Spans in the queue.
    pub(crate) waiting: u64,
}

#[derive(Debug)]
pub(crate) struct Queue {
    spans: Vec<FinishedSpan>,
    /// The maximum number of bytes in the queue, and the number that is free.
    limit: usize,
    room: usize,
    ended: u64,
    dropped: u64,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { spans: Vec::new(), limit: 0, room: 0, ended: 0, dropped: 0 });
static ON: AtomicBool = AtomicBool::new(false);

/// Locks the queue. Threads that end a span hold the lock for a few instructions; the export thread holds it only to take all
/// spans at once.
pub(crate) fn lock() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts queueing spans, up to `limit_bytes`. Discards spans that are still in the queue, and resets the counts.
pub(crate) fn start(limit_bytes: usize) {
    let old = std::mem::replace(
        &mut *lock(),
        Queue { spans: Vec::new(), limit: limit_bytes, room: limit_bytes, ended: 0, dropped: 0 },
    );
    ON.store(true, Relaxed);
    drop(old);
}

/// Stops queueing spans. Spans in the queue can still be taken.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
}

/// Pauses or resumes queueing.
pub(crate) fn pause(paused: bool) {
    ON.store(!paused, Relaxed);
}

/// Returns whether spans are queued. If not, spans need not be filled.
#[cfg(any(has_otel, has_tracing))]
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Stops queueing in a forked child. The fork handler has released the lock.
pub(crate) fn off_after_fork() {
    ON.store(false, Relaxed);
}

/// Queues a span that ended at `unix_nanos`, if queueing is on; if the queue is full, drops and counts the span. A span that
/// ended before its start gets the duration zero, as OTLP requires.
#[cfg(any(has_otel, has_tracing))]
pub(crate) fn ended(mut span: FinishedSpan, unix_nanos: u64) {
    if !is_on() {
        return;
    }
    span.duration = Duration::from_nanos(unix_nanos.saturating_sub(span.start_unix_nanos));
    let bytes = span.bytes();
    let mut queue = lock();
    queue.ended += 1;
    if bytes > queue.room {
        queue.dropped += 1;
        // Frees the span after the lock is released.
        drop(queue);
        return drop(span);
    }
    queue.room -= bytes;
    queue.spans.push(span);
}

/// Takes all queued spans.
pub(crate) fn take(visit: impl FnMut(FinishedSpan)) {
    let mut queue = lock();
    queue.room = queue.limit;
    let spans = std::mem::take(&mut queue.spans);
    drop(queue);
    spans.into_iter().for_each(visit);
}

/// Returns the counts since `start`.
pub(crate) fn counts() -> Counts {
    let queue = lock();
    Counts { ended: queue.ended, dropped: queue.dropped, waiting: queue.spans.len() as u64 }
}
