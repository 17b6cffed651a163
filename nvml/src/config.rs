//! The settings of a monitor: which GPUs and host metrics are sampled, how often, and under which names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{GpuEvent, Handler};
use crate::host_group::HostGroup;
use crate::names::Names;

/// The settings of a monitor.
///
/// ```
/// use std::time::Duration;
///
/// let config = tracecast_nvml::Config::default().with_interval(Duration::from_secs(10));
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) interval: Duration,
    pub(crate) window: Duration,
    pub(crate) library: Option<PathBuf>,
    pub(crate) pcie_throughput: bool,
    pub(crate) details: bool,
    pub(crate) nvlink: bool,
    pub(crate) activity: bool,
    pub(crate) host: bool,
    pub(crate) host_root: PathBuf,
    pub(crate) host_groups: Vec<HostGroup>,
    #[cfg(all(feature = "kubernetes", unix))]
    pub(crate) pod_resources: Option<PathBuf>,
    pub(crate) gpus: bool,
    pub(crate) devices: Option<Vec<String>>,
    pub(crate) sysfs: PathBuf,
    pub(crate) names: Names,
    pub(crate) event_handler: Option<Handler>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            interval: Duration::from_secs(5),
            window: Duration::from_secs(60),
            library: None,
            pcie_throughput: false,
            details: false,
            nvlink: true,
            activity: false,
            host: true,
            host_root: PathBuf::from("/"),
            host_groups: Vec::new(),
            #[cfg(all(feature = "kubernetes", unix))]
            pod_resources: None,
            gpus: true,
            devices: None,
            sysfs: PathBuf::from("/sys"),
            names: Names::default(),
            event_handler: None,
        }
    }
}

impl Config {
    /// Sets the sampling interval; 5 s by default, at least 10 ms and at most an hour. Values older than three intervals become
    /// gaps.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let config = tracecast_nvml::Config::default().with_interval(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval.clamp(Duration::from_millis(10), Duration::from_secs(3600));
        self
    }

    /// Sets the length of the sliding window for the minimum, mean and maximum of utilization, power, temperature and
    /// clocks; 60 s by default (the default export interval), at least 10 ms and at most an hour. A window shorter than
    /// the export interval loses samples.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let config = tracecast_nvml::Config::default().with_window(Duration::from_secs(15)); // as often as it is scraped
    /// ```
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> Self {
        self.window = window.clamp(Duration::from_millis(10), Duration::from_secs(3600));
        self
    }

    /// Loads the NVML library from this path instead of the one that the dynamic linker finds.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_library("/opt/nvidia/lib64/libnvidia-ml.so.1");
    /// ```
    #[must_use]
    pub fn with_library(mut self, path: impl Into<PathBuf>) -> Self {
        self.library = Some(path.into());
        self
    }

    /// Estimates PCIe bytes from the transfer rate if the driver does not count them; off by default, because the driver takes
    /// 20 ms for each direction. Drivers from 555 on count the bytes.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_pcie_throughput(true);
    /// ```
    #[must_use]
    pub fn with_pcie_throughput(mut self, on: bool) -> Self {
        self.pcie_throughput = on;
        self
    }

    /// Also measures the fan, the performance state and the PCIe link; off by default.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_details(true);
    /// ```
    #[must_use]
    pub fn with_details(mut self, on: bool) -> Self {
        self.details = on;
        self
    }

    /// Measures NVLinks: bytes transferred, state and errors; on by default. A GPU without links costs one driver call per
    /// sample.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_nvlink(false);
    /// ```
    #[must_use]
    pub fn with_nvlink(mut self, on: bool) -> Self {
        self.nvlink = on;
        self
    }

    /// Measures the activity of parts of the GPU and of its MIG instances, such as tensor cores, with NVML's GPM; off by default,
    /// because it costs the driver more than all other values together. GPM requires Hopper or later; for other GPUs one line is
    /// logged.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_activity(true);
    /// ```
    #[must_use]
    pub fn with_activity(mut self, on: bool) -> Self {
        self.activity = on;
        self
    }

    /// Monitors GPUs; on by default. If off, the driver is never loaded.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_gpus(false); // the host alone
    /// ```
    #[must_use]
    pub fn with_gpus(mut self, on: bool) -> Self {
        self.gpus = on;
        self
    }

    /// Selects GPUs by index (`0`), by UUID, or by the start of a UUID (`GPU-5a3c`). A GPU selected by UUID is followed to any
    /// index; an index selects whichever GPU the driver lists there.
    ///
    /// Without this setting `NVIDIA_VISIBLE_DEVICES` and `CUDA_VISIBLE_DEVICES` select the GPUs. Indices are those of NVML, which
    /// equal CUDA's if all GPUs are of one model or `CUDA_DEVICE_ORDER` is `PCI_BUS_ID`.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_devices(["0", "GPU-5a3c"]);
    /// ```
    #[must_use]
    pub fn with_devices(mut self, devices: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.devices = Some(devices.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the mount point of sysfs, `/sys` by default. The monitor reads there which GPUs are suspended; it does not query
    /// those, because a query would wake them.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_sysfs("/host/sys");
    /// ```
    #[must_use]
    pub fn with_sysfs(mut self, path: impl Into<PathBuf>) -> Self {
        self.sysfs = path.into();
        self
    }

    /// Also measures the machine, the process and its container; on by default.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_host(false); // GPUs alone
    /// ```
    #[must_use]
    pub fn with_host(mut self, on: bool) -> Self {
        self.host = on;
        self
    }

    /// Sets the directory that contains `proc` and `sys`, `/` by default; in a container, the directory where the host's file
    /// system is mounted.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_host_root("/host");
    /// ```
    #[must_use]
    pub fn with_host_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.host_root = path.into();
        self
    }

    /// Enables further groups of machine metrics; none by default. Each group reads one or two more files per sample. Another
    /// call replaces the groups.
    ///
    /// ```
    /// use tracecast_nvml::{Config, HostGroup};
    ///
    /// let config = Config::default().with_host_groups([HostGroup::Network, HostGroup::Disk, HostGroup::Filesystem]);
    /// ```
    #[must_use]
    pub fn with_host_groups(mut self, groups: impl IntoIterator<Item = HostGroup>) -> Self {
        self.host_groups = groups.into_iter().collect();
        self
    }

    /// Shows which pod and container each GPU and MIG instance is allocated to, as `tc_gpu_pod_info{uuid, namespace,
    /// pod, container}`. The monitor queries the kubelet through this socket of the node, which must be mounted; the
    /// usual path is `/var/lib/kubelet/pod-resources/kubelet.sock`.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default()
    ///     .with_pod_resources("/var/lib/kubelet/pod-resources/kubelet.sock");
    /// ```
    #[cfg(all(feature = "kubernetes", unix))]
    #[cfg_attr(docsrs, doc(cfg(feature = "kubernetes")))]
    #[must_use]
    pub fn with_pod_resources(mut self, socket: impl Into<PathBuf>) -> Self {
        self.pod_resources = Some(socket.into());
        self
    }

    /// Sets the naming style of the metrics; Tracecast's names by default.
    ///
    /// ```
    /// use tracecast_nvml::{Config, Names};
    ///
    /// let config = Config::default().with_names(Names::SemanticConventions);
    /// ```
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Calls `handler` when a GPU reports an XID, is lost, hangs or recovers. Another call replaces the handler.
    ///
    /// The handler runs on its own thread, one event at a time, in the order of the events. The monitor never waits for the
    /// handler: up to 256 events are queued; if the queue is full, the oldest XID is dropped first, and
    /// `tc_gpu_events_dropped_total` counts the dropped events. If the handler panics, it is still called for later events. When
    /// the monitor ends, queued events are discarded.
    ///
    /// Read [`Monitor::gpus`](crate::Monitor::gpus) for the current state.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, events) = channel();
    /// let config = tracecast_nvml::Config::default().with_event_handler(move |event| {
    ///     let _ = sender.send(event); // the receiver may be gone
    /// });
    /// ```
    #[must_use]
    pub fn with_event_handler(mut self, handler: impl Fn(GpuEvent) + Send + Sync + 'static) -> Self {
        self.event_handler = Some(Handler(Arc::new(handler)));
        self
    }

    /// The age from which a value is a gap.
    pub(crate) fn stale_after(&self) -> Duration {
        self.interval * 3
    }

    /// The interval between requests to the kubelet, which is longer because allocations change less often than values.
    #[cfg(all(feature = "kubernetes", unix))]
    pub(crate) fn pods_pause(&self) -> Duration {
        self.interval * 6
    }

    /// The longest pause between attempts to find a lost GPU or the driver, and between searches for new GPUs.
    pub(crate) fn longest_pause(&self) -> Duration {
        self.interval * 12
    }
}
