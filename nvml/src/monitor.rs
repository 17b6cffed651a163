//! A monitor, from start to end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release};

use crate::config::Config;
use crate::gpu::finder;
use crate::gpu::shared::Shared;
use crate::gpu::view::Gpu;
use crate::host;

/// There is one monitor in a process: two would set the same gauges.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Starts to look after the GPUs of this machine, until the monitor is dropped.
///
/// It never fails: what is missing is said by `tc_nvml_available`, and looked for again now and then. A second monitor
/// while one runs does nothing but log a line.
///
/// ```
/// let config = tracecast_nvml::Config::default().with_devices(["0"]);
/// let monitor = tracecast_nvml::start(config);
/// // .. the program runs; GPU 0 is looked after ..
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

/// GPUs are looked after for as long as this lives.
///
/// ```
/// let first = tracecast_nvml::start(tracecast_nvml::Config::default());
/// let second = tracecast_nvml::start(tracecast_nvml::Config::default());
/// assert_eq!(format!("{second:?}"), "Monitor { running: false }"); // there is one in a process
/// # drop(first);
/// ```
#[must_use = "GPUs are looked after until the monitor is dropped; bind it to a name in `main`"]
pub struct Monitor {
    shared: Option<Arc<Shared>>,
}

impl Monitor {
    /// All GPUs that are looked after, each with its newest sample, by their index.
    ///
    /// It reads what the monitor's threads have found and calls no driver, so it returns at once, also while a GPU hangs. Just
    /// after the start, and where there is no driver, there are none.
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

    /// Ends it, as dropping does: at once, also while a call of the driver hangs. All its gauges become gaps, and what
    /// such a call brings later is thrown away.
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
