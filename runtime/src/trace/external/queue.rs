//! The queue of third-party spans for the export thread. It is bounded by bytes; spans that do not fit are dropped and counted.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(any(has_otel, has_tracing))]
use std::time::Duration;

use crate::record::finished::FinishedSpan;

/// What became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Sampled ones that have ended.
    pub(crate) ended: u64,
    /// Those for which there was no room.
    pub(crate) dropped: u64,
    /// Those that have not been taken.
    pub(crate) waiting: u64,
}

#[derive(Debug)]
pub(crate) struct Queue {
    spans: Vec<FinishedSpan>,
    /// Bytes that they may take, and those of them that are free.
    limit: usize,
    room: usize,
    ended: u64,
    dropped: u64,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { spans: Vec::new(), limit: 0, room: 0, ended: 0, dropped: 0 });
static ON: AtomicBool = AtomicBool::new(false);

/// Locks the queue. A thread that ends a span holds it for a few instructions, the export thread only to take all spans at once.
pub(crate) fn lock() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has spans kept from now on, up to `limit_bytes` of them. What was left from before is gone, and counts begin anew.
pub(crate) fn start(limit_bytes: usize) {
    let old = std::mem::replace(
        &mut *lock(),
        Queue { spans: Vec::new(), limit: limit_bytes, room: limit_bytes, ended: 0, dropped: 0 },
    );
    ON.store(true, Relaxed);
    drop(old);
}

/// Has no more spans kept; what waits can still be taken.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
}

/// Has no spans kept for now, or goes on with it.
pub(crate) fn pause(paused: bool) {
    ON.store(!paused, Relaxed);
}

/// Whether spans are kept. If not, none are worth filling.
#[cfg(any(has_otel, has_tracing))]
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Everything off, and nothing left of the parent's: for a forked child, which gave the lock back.
pub(crate) fn off_after_fork() {
    ON.store(false, Relaxed);
}

/// Takes over a span that has ended at `unix_nanos`. One that ended before it started took no time, as OTLP demands.
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
        // What it holds is freed after the lock.
        drop(queue);
        return drop(span);
    }
    queue.room -= bytes;
    queue.spans.push(span);
}

/// Takes all spans that wait.
pub(crate) fn take(visit: impl FnMut(FinishedSpan)) {
    let mut queue = lock();
    queue.room = queue.limit;
    let spans = std::mem::take(&mut queue.spans);
    drop(queue);
    spans.into_iter().for_each(visit);
}

/// What became of the spans since `start`.
pub(crate) fn counts() -> Counts {
    let queue = lock();
    Counts { ended: queue.ended, dropped: queue.dropped, waiting: queue.spans.len() as u64 }
}
