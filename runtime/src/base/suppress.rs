//! Suppresses telemetry of threads that export telemetry: their log events and spans must not be exported in turn.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// The number of guards on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A guard. While it lives, events of its thread become no log records, only events of level `warn` and above become lines, and
/// new `tracing` spans of the thread are not recorded.
#[must_use = "the suppression ends when the guard is dropped"]
pub(crate) struct Suppressed(PhantomData<*const ()>);

/// Suppresses telemetry of this thread until the guard is dropped.
pub(crate) fn suppressed() -> Suppressed {
    DEPTH.set(DEPTH.get() + 1);
    Suppressed(PhantomData)
}

pub(crate) fn is_suppressed() -> bool {
    DEPTH.get() > 0
}

impl Drop for Suppressed {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
