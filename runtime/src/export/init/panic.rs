//! The panic hook: brings out what is pending when a panic ends the process.

use std::panic;
use std::process;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::{notice, suppress};
use crate::export::pipeline::ExportThread;
use crate::trace::span;

/// What the hook brings out, and how long that may take.
static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

#[derive(Clone)]
struct Watched {
    export_thread: Weak<ExportThread>,
    timeout: Duration,
    /// The process it belongs to: a forked child has no export thread.
    process: u32,
}

/// Has a panic that ends the process bring out what the export thread has not sent by then.
pub(super) fn watch(export_thread: &Arc<ExportThread>, timeout: Duration) {
    let watched = Watched { export_thread: Arc::downgrade(export_thread), timeout, process: process::id() };
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    static ONCE: Once = Once::new();
    // The standard library does not change hooks on a thread that panics.
    if !thread::panicking() {
        ONCE.call_once(|| {
            let next = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                panicked();
                next(info);
            }));
        });
    }
}

/// Runs first in the hook. The export thread itself cannot wait for itself.
fn panicked() {
    let Some((export_thread, timeout)) = watched().filter(|_| !suppress::is_suppressed()) else { return };
    if cfg!(panic = "abort") {
        let deadline = Instant::now() + timeout;
        span::end_entered_as_panicked();
        export_thread.shutdown(timeout, true);
        notice::settle(deadline.saturating_duration_since(Instant::now()));
    } else if is_main_thread() && tokio::task::try_id().is_none() {
        // The panic may still be caught, so spans stay open: they end as they are unwound. The exit has the other half.
        finish_at_exit();
        let _ = END_ENTERED.try_with(|_| ());
        export_thread.flush(timeout / 2);
    }
}

/// What there is to bring out, as far as that can be known without waiting.
fn watched() -> Option<(Arc<ExportThread>, Duration)> {
    let Watched { export_thread, timeout, process } = WATCHED.try_lock().ok()?.clone()?;
    (process == process::id()).then(|| export_thread.upgrade()).flatten().map(|export_thread| (export_thread, timeout))
}

/// Has the end of the process bring out spans that ended while they were unwound, if no guard does.
fn finish_at_exit() {
    #[cfg(unix)]
    {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler may run on any thread, and what it uses lives for ever.
            unsafe { libc::atexit(at_exit) };
        });
    }
}

/// Ends spans of a thread that exits without having unwound them, as when the program's own hook exits. The destructor is
/// registered in the hook, so it runs before that of the recorder, after which the thread records nothing.
struct EndEntered;

thread_local! {
    static END_ENTERED: EndEntered = const { EndEntered };
}

impl Drop for EndEntered {
    fn drop(&mut self) {
        if thread::panicking() {
            span::end_entered_as_panicked();
        }
    }
}

#[cfg(unix)]
extern "C" fn at_exit() {
    if let Some((export_thread, timeout)) = watched() {
        export_thread.shutdown(timeout / 2, true);
    }
}

fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: two plain system calls.
    return unsafe { libc::gettid() == libc::getpid() };
    #[cfg(not(target_os = "linux"))]
    return thread::current().name() == Some("main");
}
