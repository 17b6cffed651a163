//! Spans and metrics that were made while a test captured, but in no context: a spawned task or thread that nobody gave one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are remembered: the last ones.
const KEPT: usize = 256;

pub(crate) struct OutsideCapture {
    /// How many there were since the process began.
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

/// How many there were until now.
pub(crate) fn count() -> usize {
    lock().total
}

/// The names of those that came after the first `seen`, as far as they are remembered.
pub(crate) fn since(seen: usize) -> Vec<&'static str> {
    let outside_capture = lock();
    let new = outside_capture.total - seen;
    outside_capture.last.iter().skip(outside_capture.last.len().saturating_sub(new)).copied().collect()
}
