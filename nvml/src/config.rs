//! What is looked after, and how often.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{GpuEvent, Handler};
use crate::host_group::HostGroup;
use crate::names::Names;

/// What a monitor does.
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
    /// How often each GPU is asked; 5 s by default, and 10 ms at least. A value older than three of these is a gap.
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

    /// How long the window is over which minimum, mean and maximum of utilization, power, temperature and clocks are shown; 60 s by
    /// default, which is how often metrics are exported. A window that is shorter than the time between two exports loses samples.
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

    /// The NVML library, where it is not the one that the linker finds.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_library("/opt/nvidia/lib64/libnvidia-ml.so.1");
    /// ```
    #[must_use]
    pub fn with_library(mut self, path: impl Into<PathBuf>) -> Self {
        self.library = Some(path.into());
        self
    }

    /// Whether bytes over PCIe are estimated from their rate where the driver does not count them; off by default, because the
    /// driver takes 20 ms for each direction. Drivers from 555 on count them.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_pcie_throughput(true);
    /// ```
    #[must_use]
    pub fn with_pcie_throughput(mut self, on: bool) -> Self {
        self.pcie_throughput = on;
        self
    }

    /// Whether fan, performance state and PCIe link are measured too; off by default.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_details(true);
    /// ```
    #[must_use]
    pub fn with_details(mut self, on: bool) -> Self {
        self.details = on;
        self
    }

    /// Whether links between GPUs are measured: what they moved, their state and their errors; on by default. GPUs without links cost
    /// one call.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_nvlink(false);
    /// ```
    #[must_use]
    pub fn with_nvlink(mut self, on: bool) -> Self {
        self.nvlink = on;
        self
    }

    /// Whether it is measured how busy parts of the GPU and of its MIG instances are, as tensor cores; off by default. GPUs have that
    /// (it is called GPM) from Hopper on, and it costs the driver more than everything else. On other GPUs one line is logged.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_activity(true);
    /// ```
    #[must_use]
    pub fn with_activity(mut self, on: bool) -> Self {
        self.activity = on;
        self
    }

    /// Whether GPUs are looked after; on by default. If not, the driver is never loaded.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_gpus(false); // the host alone
    /// ```
    #[must_use]
    pub fn with_gpus(mut self, on: bool) -> Self {
        self.gpus = on;
        self
    }

    /// The GPUs that are looked after, by index (`0`) or by UUID or the start of one (`GPU-5a3c`). A GPU that is named by its UUID
    /// is followed to any index; an index is whichever GPU the driver has there.
    ///
    /// Without this `NVIDIA_VISIBLE_DEVICES` and `CUDA_VISIBLE_DEVICES` say which. Indices are NVML's, which are those of
    /// CUDA where all GPUs are alike or `CUDA_DEVICE_ORDER` is `PCI_BUS_ID`.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_devices(["0", "GPU-5a3c"]);
    /// ```
    #[must_use]
    pub fn with_devices(mut self, devices: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.devices = Some(devices.into_iter().map(Into::into).collect());
        self
    }

    /// Where sysfs is mounted, if not at `/sys`. It says which GPUs sleep; those are not asked, which would wake them.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_sysfs("/host/sys");
    /// ```
    #[must_use]
    pub fn with_sysfs(mut self, path: impl Into<PathBuf>) -> Self {
        self.sysfs = path.into();
        self
    }

    /// Whether the machine, the process and its container are measured too; on by default.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_host(false); // GPUs alone
    /// ```
    #[must_use]
    pub fn with_host(mut self, on: bool) -> Self {
        self.host = on;
        self
    }

    /// Below which folder `proc` and `sys` are, if not below `/`: where a container has those of its machine mounted.
    ///
    /// ```
    /// let config = tracecast_nvml::Config::default().with_host_root("/host");
    /// ```
    #[must_use]
    pub fn with_host_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.host_root = path.into();
        self
    }

    /// Further metrics of the machine: none by default. Each group reads a file or two more for each sample; another call replaces
    /// the groups.
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

    /// Shows which pod and container each GPU and MIG instance is allocated to, as `tc_gpu_pod_info{uuid, namespace, pod, container}`. The
    /// kubelet says it on a socket of the node, which has to be mounted; `/var/lib/kubelet/pod-resources/kubelet.sock` is the usual one.
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

    /// How metrics are called; as all others of Tracecast by default.
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

    /// Calls `handler` when a GPU reports an XID, is lost, hangs or recovers; another call replaces it.
    ///
    /// The handler runs on a thread of its own, one event at a time, in the order in which they happened. The monitor never
    /// waits for it: up to 256 events wait, beyond that XIDs are dropped first, and `tc_gpu_events_dropped_total` counts them.
    /// If the handler panics, it is called for the next event all the same. When the monitor ends, waiting events are
    /// discarded.
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

    /// How old a value may become.
    pub(crate) fn stale_after(&self) -> Duration {
        self.interval * 3
    }

    /// How often the kubelet is asked: what runs on a GPU changes less often than what it does.
    #[cfg(all(feature = "kubernetes", unix))]
    pub(crate) fn pods_pause(&self) -> Duration {
        self.interval * 6
    }

    /// The longest pause between two attempts to find what is lost, and between two looks for what is new.
    pub(crate) fn longest_pause(&self) -> Duration {
        self.interval * 12
    }
}
