//! The guard: starts telemetry, and ends it when it is dropped.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Relaxed};
use std::time::Duration;

use super::error::{InitError, NotRunning};
use super::handle::Handle;
use super::report::Report;
use super::running::Running;
use super::start;
use crate::config::Config;

/// The maximum time that a dropped guard spends on exporting pending telemetry.
const AT_DROP: Duration = Duration::from_secs(5);

/// The process in which telemetry runs, or 0.
static RUNNING_IN: AtomicU32 = AtomicU32::new(0);

/// Keeps telemetry running. When it is dropped, also by a panic in `main`, it exports pending telemetry for up to five
/// seconds.
///
/// The guard dereferences to a [`Handle`], which has all operations except the shutdown.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let telemetry = Config::new().with_service_name("store").init()?;
/// // .. the program runs ..
/// let report = telemetry.shutdown(Duration::from_secs(5));
/// assert_eq!(report.spans_pending, 0);
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[must_use = "telemetry stops when the guard is dropped; bind it to a name in `main`"]
pub struct Guard {
    handle: Handle,
}

impl Guard {
    /// Creates the guard of a program whose telemetry could not start.
    pub(super) fn off() -> Self {
        Guard { handle: Handle::new(std::process::id(), Err(NotRunning::NotStarted)) }
    }

    pub(super) fn start(config: Config) -> Result<Self, InitError> {
        let process = std::process::id();
        let before = RUNNING_IN.swap(process, AcqRel);
        if before == process {
            return Err(InitError::AlreadyRunning);
        }
        // Set even if every signal is off, because incoming context is still propagated.
        start::propagate(&config);
        // From here on a failure drops the guard, which ends everything that has started.
        let guard = Guard { handle: Handle::new(process, Ok(Running::new(config))) };
        if let Ok(running) = &mut *guard.handle.lock() {
            running.start()?;
        }
        Ok(guard)
    }

    /// Returns a [`Handle`] for a `/metrics` route, a health endpoint or an admin API. [`Shutdown`](crate::shutdown::Shutdown)
    /// takes the guard, never the handle.
    ///
    /// ```
    /// use tracecast::config::Config;
    /// use tracecast::shutdown::Shutdown;
    ///
    /// let telemetry = Config::new().init()?;
    /// let handle = telemetry.handle();
    /// let shutdown = Shutdown::new(telemetry);
    /// println!("{}: {}", handle.health().state(), handle.render_prometheus());
    /// # drop(shutdown);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Stops recording, exports pending telemetry for up to `timeout`, and returns a report of all telemetry of the
    /// process. If telemetry does not run, the report is empty and has the reason ([`Report::not_running`]).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = telemetry.shutdown(Duration::from_secs(5));
    /// assert_eq!((report.spans_dropped, report.logs_dropped), (0, 0));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn shutdown(self, timeout: Duration) -> Report {
        self.end(timeout, false)
    }

    /// Stops recording, exports pending telemetry for up to `timeout`, with open spans as unfinished, and returns the
    /// report.
    pub(crate) fn shutdown_unfinished(self, timeout: Duration) -> Report {
        self.end(timeout, true)
    }

    fn end(&self, timeout: Duration, unfinished: bool) -> Report {
        let mut running = match self.handle.take() {
            Ok(running) => running,
            Err(reason) => return Report::empty(reason),
        };
        // Ends the watchdog first, so that its last counts are exported with the rest.
        running.watchdog = None;
        let export_thread = running.export_thread.take();
        let unfinished = unfinished || running.config.unfinished_spans;
        let report = export_thread
            .map_or_else(Report::default, |export_thread| Report::of(&export_thread.shutdown(timeout, unfinished)));
        // Metrics end last, so that the last export counts the fate of spans and log records.
        drop(running);
        // A forked child may run telemetry of its own by now.
        let _ = RUNNING_IN.compare_exchange(std::process::id(), 0, AcqRel, Relaxed);
        report
    }
}

impl Deref for Guard {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end(AT_DROP, false);
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.handle).finish()
    }
}
