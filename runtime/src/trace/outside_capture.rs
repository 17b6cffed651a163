//! Spans and metrics that were recorded during a test's capture but outside of it, in a spawned task or thread that was not
//! given the context of the capture.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of names kept; the oldest are discarded.
const KEPT: usize = 256;

pub(crate) struct OutsideCapture {
    /// The number of names added since the process began.
    total: usize,
    last: VecDeque<&'static str>,
}

static RECORDED: Mutex<OutsideCapture> = Mutex::new(OutsideCapture { total: 0, last: VecDeque::new() });

pub(crate) fn lock() -> MutexGuard<'static, OutsideCapture> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
pub(crate) fn note(name: &'static str) {
    let mut outside_capture = lock();
    outside_capture.total += 1;
    outside_capture.last.push_back(name);
    if outside_capture.last.len() > KEPT {
        outside_capture.last.pop_front();
    }
}

/// Returns the number of names added so far.
pub(crate) fn count() -> usize {
    lock().total
}

/// Returns the names that were added after the first `seen`, at most the last `KEPT`.
pub(crate) fn since(seen: usize) -> Vec<&'static str> {
    let outside_capture = lock();
    let new = outside_capture.total - seen;
    outside_capture.last.iter().skip(outside_capture.last.len().saturating_sub(new)).copied().collect()
}
