//! The parts of a configuration, one per signal, and the values they take.

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

/// What stands for "no limit" of a timeout, because nothing here waits for ever.
pub(super) const NO_LIMIT: Duration = Duration::from_secs(3600);

/// Settings of traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    /// Where spans go. `None` if nothing was said, empty if they shall go nowhere.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// Which roots are recorded. Children always do as their parent, also a remote one.
    pub(crate) sampler: Sampler,
    /// What one span may hold.
    pub(crate) limits: Limits,
    /// Attributes of one link, 128 by default.
    pub(crate) attributes_per_link: Option<u32>,
    /// How spans are put together into requests.
    pub(crate) batch: Batch,
}

/// Settings of metrics.
#[derive(Clone, Debug)]
pub(crate) struct Metrics {
    /// Where points go. `None` if nothing was said, empty if they shall go nowhere.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// Where they are served to scrapers, if that is one of the exporters.
    pub(crate) prometheus: ScrapeAddress,
    /// Time between two exports.
    pub(crate) interval: Duration,
    /// How long one attempt of an export may take. Retrying is not limited by time.
    pub(crate) timeout: Duration,
    /// Whether points count from the beginning or from the last export.
    pub(crate) temporality: TemporalityPreference,
    /// The shape of histograms that do not name their own.
    pub(crate) histograms: HistogramAggregation,
    /// Which measurements become exemplars.
    pub(crate) exemplars: Exemplars,
    /// How many series raw OpenTelemetry instruments may have.
    pub(crate) cardinality: CardinalityLimits,
    /// Whether metrics about telemetry itself also have the names of the conventions.
    pub(crate) sdk_names: bool,
    /// How metrics are changed before they are exported, declared ones and those of raw OpenTelemetry instruments.
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
    /// Counters and histograms count from the previous export. Observable counters of the OpenTelemetry API count from the start,
    /// because a delta of them would have to be remembered.
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

/// Where metrics are served to scrapers.
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
    /// Where log records go. `None` if nothing was said, empty if they shall go nowhere.
    pub(crate) exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from `Settings::otlp`.
    pub(crate) otlp: OtlpSettings,
    /// What one record may hold.
    pub(crate) limits: LogLimits,
    /// How records are put together into requests.
    pub(crate) batch: Batch,
    /// How events are written as lines to standard error. `None` if nothing was said: then as [`LogFormat::Auto`] if log
    /// records are exported or a level was set, and not at all otherwise.
    pub(crate) lines: Option<LogFormat>,
}

/// Where spans and log records wait on disk that cannot be sent.
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
    /// Bytes that it may hold, of all processes together. 64 MiB by default.
    pub(crate) max_bytes: u64,
    /// What is older is removed. A day by default.
    pub(crate) max_age: Duration,
}

impl Spool {
    /// A spool in this directory: 64 MiB, of which nothing is older than a day. The directory is made if need be, for its user
    /// alone, and may be shared by several processes. If others can write to it or own it, as to an `emptyDir` of Kubernetes,
    /// the spool uses a directory of mode 0700 inside of it.
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

    /// Limits how long anything stays on disk.
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

/// How log events are written as lines.
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
    /// As text on a terminal, as JSON elsewhere.
    Auto,
    /// One JSON object per line.
    Json,
    /// For humans.
    Text,
    /// Not at all.
    None,
}

/// How the console shows telemetry.
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
    /// Requests as OTLP has them, one JSON object per line.
    Json,
}

impl Default for Logs {
    fn default() -> Self {
        let batch = Batch { delay: Duration::from_secs(1), ..Batch::default() };
        Logs { exporters: None, otlp: OtlpSettings::default(), limits: LogLimits::default(), batch, lines: None }
    }
}

/// What an exporter of a signal shall be.
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
    /// OTLP. What is left out is taken from the signal's settings, then from those of all signals. Boxed for its size.
    Otlp(Box<OtlpSettings>),
    /// Text for humans on standard error.
    Console,
    /// Metrics for Prometheus, which scrapes them: nothing is sent. [`Config::with_prometheus_address`] says where they are
    /// served. Of other signals it has no effect.
    ///
    /// [`Config::with_prometheus_address`]: super::Config::with_prometheus_address
    Prometheus,
}

/// Where a signal goes, with nothing left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To a receiver. Boxed for its size.
    Otlp(Box<Otlp>),
    /// To standard error.
    Console,
    /// To those who scrape this address.
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

/// How records are put together into requests.
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
    /// The longest time between two exports: 5 s for spans, 1 s for logs.
    pub delay: Duration,
    /// How long one attempt of an export may take. Retrying is not limited by time.
    pub timeout: Duration,
    /// How many records may wait. `None` leaves it to the memory limit.
    pub queue: Option<u32>,
    /// How many records one request has at most.
    pub size: u32,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { delay: Duration::from_secs(5), timeout: Duration::from_secs(30), queue: None, size: 512 }
    }
}

/// What one log record may hold.
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
    /// Attributes.
    pub attributes: u32,
    /// Bytes of one text; the rest is cut off between two characters.
    pub value_bytes: u32,
}

impl Default for LogLimits {
    fn default() -> Self {
        let Limits { attributes, value_bytes, .. } = Limits::default();
        LogLimits { attributes, value_bytes }
    }
}

/// The shape of histograms that do not name their own.
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

/// How many series raw OpenTelemetry instruments may have; `None` is the default for all, or the SDK's 2,000.
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

/// What is said about the process: attributes that were configured. Detected ones are added at init.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Resource {
    /// Names and values; each name stands once.
    pub(crate) attributes: Vec<(String, Masked<OwnedValue>)>,
    /// The schema of the attributes.
    pub(crate) schema_url: Option<Masked<String>>,
}

impl Resource {
    /// The value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.masked(name).map(|value| &**value)
    }

    /// The value of an attribute, with whether it prints.
    pub(super) fn masked(&self, name: &str) -> Option<&Masked<OwnedValue>> {
        self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    /// All of it but the attributes that are settings of their own.
    pub(super) fn others(&self) -> Resource {
        let mut others = self.clone();
        others.attributes.retain(|(name, _)| setting_of(name).is_none());
        others
    }

    /// Sets an attribute, instead of an earlier one with its name.
    pub(super) fn set(&mut self, name: &str, value: Masked<OwnedValue>) {
        match self.attributes.iter_mut().find(|(given, _)| given == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }
}

/// The setting that an attribute of the resource is by itself.
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
