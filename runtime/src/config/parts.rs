//! The settings of each signal, the spool and the resource, and the types of their values.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::otlp::{Otlp, OtlpSettings};
use super::views::View;
use crate::base::secret::Masked;
use crate::declare::value::OwnedValue;
use crate::meter::exemplar::Exemplars;
use crate::meter::snapshot::Temporality;
use crate::record::limits::Limits;
use crate::record::sampling::Sampler;

/// The timeout that 0 ("no limit") becomes: an hour, because nothing here waits for ever.
pub(super) const NO_LIMIT: Duration = Duration::from_secs(3600);

/// Settings of traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    /// Exporters of spans. `None` if not configured, empty if explicitly off.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP settings of this signal; fields that are not set fall back to `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// The sampler of root spans. Children always follow their parent, even a remote one.
    pub(crate) sampler: Sampler,
    /// Limits of one span.
    pub(crate) limits: Limits,
    /// The maximum number of attributes of one link; `None` means 128.
    pub(crate) attributes_per_link: Option<u32>,
    /// The batching of spans into requests.
    pub(crate) batch: Batch,
}

/// Settings of metrics.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    /// Exporters of metrics. `None` if not configured, empty if explicitly off.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP settings of this signal; fields that are not set fall back to `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// The address for scrapers, used if `Prometheus` is among the exporters.
    pub(crate) prometheus: ScrapeAddress,
    /// The time between two exports.
    pub(crate) interval: Duration,
    /// Timeout of one export attempt. It does not limit retrying.
    pub(crate) timeout: Duration,
    /// Whether points count from the beginning or from the last export.
    pub(crate) temporality: TemporalityPreference,
    /// The aggregation of histograms that declare none.
    pub(crate) histograms: HistogramAggregation,
    /// The choice of measurements that become exemplars.
    pub(crate) exemplars: Exemplars,
    /// The maximum number of series of each raw OpenTelemetry instrument.
    pub(crate) cardinality: CardinalityLimits,
    /// Whether metrics about telemetry itself are also exported under the names of OpenTelemetry's conventions.
    pub(crate) sdk_names: bool,
    /// Changes to metrics before they are exported: to declared metrics and those of raw OpenTelemetry instruments.
    pub(crate) views: Vec<View>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            exporters: None,
            otlp: OtlpSettings::default(),
            prometheus: ScrapeAddress::default(),
            interval: Duration::from_secs(60),
            timeout: Duration::from_secs(30),
            temporality: TemporalityPreference::default(),
            histograms: HistogramAggregation::default(),
            exemplars: Exemplars::default(),
            cardinality: CardinalityLimits::default(),
            sdk_names: false,
            views: Vec::new(),
        }
    }
}

/// Selects for each kind of metric whether its values count from the start or from the previous export, as the variable
/// `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` does. Up-down counters always count from the start.
///
/// ```
/// use tracecast::config::{Config, TemporalityPreference};
///
/// let config = Config::new().with_temporality(TemporalityPreference::LowMemory);
/// assert_eq!(config.get("metrics.temporality").as_deref(), Some("LowMemory"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemporalityPreference {
    /// All counters and histograms count from the start.
    #[default]
    Cumulative,
    /// All counters and histograms count from the previous export.
    Delta,
    /// Counters and histograms count from the previous export. Observable counters of the OpenTelemetry API count from
    /// the start, because their last values would have to be stored to compute deltas.
    LowMemory,
}

impl TemporalityPreference {
    /// Returns the temporality of declared counters and histograms.
    pub(crate) fn of_declared(self) -> Temporality {
        match self {
            TemporalityPreference::Cumulative => Temporality::Cumulative,
            TemporalityPreference::Delta | TemporalityPreference::LowMemory => Temporality::Delta,
        }
    }
}

/// The address at which metrics are served to scrapers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScrapeAddress {
    pub(crate) host: Masked<String>,
    pub(crate) port: u16,
}

impl Default for ScrapeAddress {
    fn default() -> Self {
        ScrapeAddress { host: "localhost".to_owned().into(), port: 9464 }
    }
}

impl fmt::Display for ScrapeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "http://[{host}]:{port}/metrics")
        } else {
            write!(f, "http://{host}:{port}/metrics")
        }
    }
}

/// Settings of logs.
#[derive(Clone, Debug)]
pub(crate) struct Logs {
    /// Exporters of log records. `None` if not configured, empty if explicitly off.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP settings of this signal; fields that are not set fall back to `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// Limits of one log record.
    pub(crate) limits: LogLimits,
    /// The batching of log records into requests.
    pub(crate) batch: Batch,
    /// The format of log lines on standard error. `None` means [`LogFormat::Auto`] if log records are exported or a
    /// level is configured, and no lines otherwise.
    pub(crate) lines: Option<LogFormat>,
}

/// On-disk buffer for spans and log records that could not be sent.
///
/// ```
/// use tracecast::config::{Config, Spool};
///
/// let config = Config::new().with_spool(Spool::new("/var/lib/store/telemetry").with_max_bytes(16 << 20));
/// assert_eq!(config.get("spool.max_bytes").as_deref(), Some("16777216"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spool {
    pub(crate) directory: Masked<PathBuf>,
    /// The maximum size in bytes on disk, of all processes together. 64 MiB by default.
    pub(crate) max_bytes: u64,
    /// The age at which files are removed. A day by default.
    pub(crate) max_age: Duration,
}

impl Spool {
    /// Creates a spool in this directory: at most 64 MiB and at most a day old. A missing directory is created,
    /// accessible to its user only. Several processes may share it. If other users own the directory or can write to
    /// it, as to an `emptyDir` of Kubernetes, the spool uses a subdirectory of mode 0700.
    ///
    /// ```
    /// use tracecast::config::{Config, Spool};
    ///
    /// let config = Config::new().with_spool(Spool::new("/var/lib/store/telemetry"));
    /// assert_eq!(config.get("spool.max_age").as_deref(), Some("86400s"));
    /// ```
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Spool { directory: directory.into().into(), max_bytes: 64 << 20, max_age: Duration::from_secs(24 * 60 * 60) }
    }

    /// Limits the bytes on disk, of all processes together.
    ///
    /// ```
    /// use tracecast::config::Spool;
    ///
    /// let spool = Spool::new("/var/lib/store/telemetry").with_max_bytes(1 << 20);
    /// ```
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Spool { max_bytes, ..self }
    }

    /// Limits the age of files on disk; older ones are removed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tracecast::config::Spool;
    ///
    /// let spool = Spool::new("/var/lib/store/telemetry").with_max_age(Duration::from_secs(60 * 60));
    /// ```
    #[must_use]
    pub fn with_max_age(self, max_age: Duration) -> Self {
        Spool { max_age, ..self }
    }
}

/// The format of log lines on standard error.
///
/// ```
/// use tracecast::config::{Config, LogFormat};
///
/// let config = Config::new().with_log_format(LogFormat::Json);
/// assert_eq!(config.get("logs.lines").as_deref(), Some("Json"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object per line.
    Json,
    /// Text for humans.
    Text,
    /// No lines.
    None,
}

/// The format of the console exporter.
///
/// ```
/// use tracecast::config::{Config, ConsoleFormat};
///
/// let config = Config::new().with_debug(true).with_console(ConsoleFormat::Json);
/// assert_eq!(config.get("console").as_deref(), Some("Json"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConsoleFormat {
    /// Trees and tables for humans.
    #[default]
    Text,
    /// OTLP requests as JSON, one object per line.
    Json,
}

impl Default for Logs {
    fn default() -> Self {
        let batch = Batch { delay: Duration::from_secs(1), ..Batch::default() };
        Logs { exporters: None, otlp: OtlpSettings::default(), limits: LogLimits::default(), batch, lines: None }
    }
}

/// An exporter of a signal.
///
/// ```
/// use tracecast::config::{Config, Exporter, OtlpSettings, Signal};
///
/// let both = vec![Exporter::Otlp(Box::new(OtlpSettings::default())), Exporter::Console];
/// let config = Config::new().with_exporters(Signal::Traces, both);
/// assert_eq!(config.destinations(Signal::Traces).len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exporter {
    /// OTLP. Fields that are not set fall back to the signal's settings, then to those for all signals. Boxed for its
    /// size.
    Otlp(Box<OtlpSettings>),
    /// Text for humans on standard error.
    Console,
    /// An endpoint for Prometheus to scrape, at the address set by [`Config::with_prometheus_address`]. Metrics only;
    /// ignored for other signals.
    ///
    /// [`Config::with_prometheus_address`]: super::Config::with_prometheus_address
    Prometheus,
}

/// A destination of a signal, with all defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// An OTLP receiver. Boxed for its size.
    Otlp(Box<Otlp>),
    /// Standard error.
    Console,
    /// Scrapers, which read this address.
    Prometheus(ScrapeAddress),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Otlp(otlp) => {
                write!(f, "{} by {}", otlp.endpoint, otlp.protocol.name())?;
                otlp.proxy.as_ref().map_or(Ok(()), |proxy| write!(f, " through {proxy}"))
            }
            Destination::Console => f.write_str("the console"),
            Destination::Prometheus(address) => write!(f, "scrapers of {address}"),
        }
    }
}

/// Settings for the batching of spans or log records into requests.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let config = Config::new().with_span_batch(|batch| batch.delay = Duration::from_millis(250));
/// assert_eq!(config.get("traces.batch.delay").as_deref(), Some("250ms"));
/// assert_eq!(config.get("traces.batch.size").as_deref(), Some("512"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// The maximum delay before a partial batch is sent: 5 s for spans, 1 s for logs.
    pub delay: Duration,
    /// Timeout of one export attempt. It does not limit retrying.
    pub timeout: Duration,
    /// The maximum number of pending records. `None`: only the memory limit applies.
    pub queue: Option<u32>,
    /// The maximum number of records in one request.
    pub size: u32,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { delay: Duration::from_secs(5), timeout: Duration::from_secs(30), queue: None, size: 512 }
    }
}

/// Limits of one log record.
///
/// ```
/// use tracecast::config::Config;
///
/// let config = Config::new().with_log_limits(|limits| limits.attributes = 32);
/// assert_eq!(config.get("logs.limits.attributes").as_deref(), Some("32"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLimits {
    /// The maximum number of attributes.
    pub attributes: u32,
    /// The maximum size of one text in bytes; a longer one is cut between two characters.
    pub value_bytes: u32,
}

impl Default for LogLimits {
    fn default() -> Self {
        let Limits { attributes, value_bytes, .. } = Limits::default();
        LogLimits { attributes, value_bytes }
    }
}

/// The aggregation of histograms that declare none.
///
/// ```
/// use tracecast::config::{Config, HistogramAggregation};
///
/// assert_eq!(Config::new().get("metrics.histograms").as_deref(), Some("ExplicitBuckets"));
/// let config = Config::new().with_histograms(HistogramAggregation::Exponential);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramAggregation {
    /// Buckets with given bounds.
    #[default]
    ExplicitBuckets,
    /// Exponential buckets with base 2.
    Exponential,
}

/// The maximum number of series of each raw OpenTelemetry instrument, by its kind. `None` falls back to `default`, then to
/// the SDK's 2,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CardinalityLimits {
    pub(crate) default: Option<u32>,
    pub(crate) counter: Option<u32>,
    pub(crate) gauge: Option<u32>,
    pub(crate) histogram: Option<u32>,
    pub(crate) observable_counter: Option<u32>,
    pub(crate) observable_gauge: Option<u32>,
    pub(crate) observable_up_down_counter: Option<u32>,
    pub(crate) up_down_counter: Option<u32>,
}

/// Configured resource attributes. Detected ones are added at init.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Resource {
    /// Names and values; each name is unique.
    pub(crate) attributes: Vec<(String, Masked<OwnedValue>)>,
    /// The schema URL of the attributes.
    pub(crate) schema_url: Option<Masked<String>>,
}

impl Resource {
    /// Returns the value of an attribute, if it is set.
    pub(crate) fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.masked(name).map(|value| &**value)
    }

    /// Returns the value of an attribute, if it is set. The value may be hidden.
    pub(super) fn masked(&self, name: &str) -> Option<&Masked<OwnedValue>> {
        self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// Returns a copy without the attributes that are settings of their own, such as `service.name`.
    pub(super) fn others(&self) -> Resource {
        let mut others = self.clone();
        others.attributes.retain(|(name, _)| setting_of(name).is_none());
        others
    }

    /// Sets an attribute; replaces an earlier value.
    pub(super) fn set(&mut self, name: &str, value: Masked<OwnedValue>) {
        match self.attributes.iter_mut().find(|(given, _)| given == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }
}

/// Returns the setting of a resource attribute that is a setting of its own, such as `service.name`; `None` for other
/// attributes.
pub(super) fn setting_of(attribute: &str) -> Option<&'static str> {
    match attribute {
        "service.name" => Some("service_name"),
        "tc.role" => Some("role"),
        _ => None,
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.attributes.iter().map(|(name, value)| (name, value))).finish()
    }
}
