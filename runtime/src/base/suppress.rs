//! Threads that bring telemetry out: what they log, and spans that they open, must not become telemetry again.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// How many guards live on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Until it is dropped, events of this thread do not become records, and lines only from `warn` on.
#[must_use = "it ends when the guard is dropped"]
pub(crate) struct Suppressed(PhantomData<*const ()>);

/// Suppresses on this thread until the guard is dropped.
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
