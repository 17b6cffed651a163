//! The panic hook: sends pending telemetry when a panic ends the process.

use std::panic;
use std::process;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::{notice, suppress};
use crate::export::pipeline::ExportThread;
use crate::trace::span;

/// The export thread that the hook flushes, and the time limit of the flush.
static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

#[derive(Clone)]
struct Watched {
    export_thread: Weak<ExportThread>,
    timeout: Duration,
    /// The process in which the export thread runs; a forked child has no export thread.
    process: u32,
}

/// Sets the export thread that the hook flushes. The first call also installs the hook, unless this thread is
/// panicking.
pub(super) fn watch(export_thread: &Arc<ExportThread>, timeout: Duration) {
    let watched = Watched { export_thread: Arc::downgrade(export_thread), timeout, process: process::id() };
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    static ONCE: Once = Once::new();
    // The standard library panics if a panicking thread changes the hook.
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

/// Exports pending telemetry before the program's own hook runs. With `panic = "abort"` it ends telemetry; otherwise it
/// flushes, and only for a panic of the main thread outside of tasks, because other panics do not end the process. Does
/// nothing if there is no export thread, or on the export thread itself, which cannot wait for itself.
fn panicked() {
    let Some((export_thread, timeout)) = watched().filter(|_| !suppress::is_suppressed()) else { return };
    if cfg!(panic = "abort") {
        let deadline = Instant::now() + timeout;
        span::end_entered_as_panicked();
        export_thread.shutdown(timeout, true);
        notice::settle(deadline.saturating_duration_since(Instant::now()));
    } else if is_main_thread() && tokio::task::try_id().is_none() {
        // The panic may still be caught, so spans stay open and end by unwinding. The rest of the time is for the exit.
        finish_at_exit();
        let _ = END_ENTERED.try_with(|_| ());
        export_thread.flush(timeout / 2);
    }
}

/// Returns the running export thread of this process and the time limit, if there is one. Never waits: returns `None`
/// if the lock is taken.
fn watched() -> Option<(Arc<ExportThread>, Duration)> {
    let Watched { export_thread, timeout, process } = WATCHED.try_lock().ok()?.clone()?;
    (process == process::id()).then(|| export_thread.upgrade()).flatten().map(|export_thread| (export_thread, timeout))
}

/// Registers a handler, on Unix only, that runs at the exit of the process and exports spans that ended by unwinding,
/// if no guard has exported them.
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

/// Ends the spans of a panicking thread that exits without unwinding, for example if the program's own panic hook calls `exit`. The
/// panic hook registers this thread-local, so its destructor runs before the recorder's, after which the thread can record nothing.
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
