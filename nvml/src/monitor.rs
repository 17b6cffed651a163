//! The monitor: its start, its public API and its end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release};

use crate::config::Config;
use crate::gpu::finder;
use crate::gpu::shared::Shared;
use crate::gpu::view::Gpu;
use crate::host;

/// Whether a monitor runs. A process has at most one, because two would set the same gauges.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Starts to monitor the GPUs of this machine, until the monitor is dropped.
///
/// This function never fails: without a driver `tc_nvml_available` is 0 and its label `reason` has the cause; the
/// monitor retries periodically. A second monitor, started while one runs, logs a line and does nothing.
///
/// ```
/// let config = tracecast_nvml::Config::default().with_devices(["0"]);
/// let monitor = tracecast_nvml::start(config);
/// // .. the program runs; GPU 0 is monitored ..
/// drop(monitor);
/// ```
pub fn start(config: Config) -> Monitor {
    if RUNNING.swap(true, AcqRel) {
        log::warn!(target: "tracecast_nvml", "a GPU monitor runs already; this one does nothing");
        return Monitor { shared: None };
    }
    let shared = Arc::new(Shared::new(config));
    if shared.config.host {
        let reading = shared.clone();
        let thread = shared.thread("tracecast-host", move || host::run(&reading.config, &reading.stop));
        shared.awaits(thread);
    }
    #[cfg(all(feature = "kubernetes", unix))]
    if let Some(socket) = shared.config.pod_resources.clone() {
        let asking = shared.clone();
        let run = move || crate::pods::run(&socket, asking.config.pods_pause(), &asking.stop);
        shared.awaits(shared.thread("tracecast-pods", run));
    }
    if shared.config.gpus {
        shared.handle_events();
        let (finding, watching) = (shared.clone(), shared.clone());
        shared.thread("tracecast-nvml", move || finder::run(&finding));
        shared.thread("tracecast-nvml-watch", move || watching.watch());
    }
    Monitor { shared: Some(shared) }
}

/// A running monitor, which ends when it is dropped.
///
/// ```
/// let first = tracecast_nvml::start(tracecast_nvml::Config::default());
/// let second = tracecast_nvml::start(tracecast_nvml::Config::default());
/// assert_eq!(format!("{second:?}"), "Monitor { running: false }"); // a process has one monitor
/// # drop(first);
/// ```
#[must_use = "GPUs are looked after until the monitor is dropped; bind it to a name in `main`"]
pub struct Monitor {
    shared: Option<Arc<Shared>>,
}

impl Monitor {
    /// Returns all monitored GPUs, each with its newest sample, in the order of their label `gpu`.
    ///
    /// This method reads the samples of the monitor's threads and does not call the driver, so it returns at once, even
    /// while a GPU hangs. The list is empty just after the start and while no driver has been found.
    ///
    /// ```
    /// let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
    /// for gpu in monitor.gpus() {
    ///     println!("GPU {}: {:?}, {:?} bytes used", gpu.gpu, gpu.state, gpu.memory_used_bytes);
    /// }
    /// ```
    pub fn gpus(&self) -> Vec<Gpu> {
        self.shared.as_ref().map(|shared| shared.views()).unwrap_or_default()
    }

    /// Ends the monitor, as dropping it does. Waits at most about 50 ms for the monitor's threads, even while a driver
    /// call hangs. All gauges become gaps, and the result of a call that returns later is discarded.
    ///
    /// ```
    /// let monitor = tracecast_nvml::start(tracecast_nvml::Config::default());
    /// assert_eq!(format!("{monitor:?}"), "Monitor { running: true }");
    /// monitor.shutdown();
    /// ```
    pub fn shutdown(self) {
        drop(self);
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.end();
            RUNNING.store(false, Release);
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("running", &self.shared.is_some()).finish()
    }
}
