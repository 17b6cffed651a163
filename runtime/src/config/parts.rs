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
///
/// ```
/// use tracecast::config::Config;
///
/// let config = Config::new().with_attributes_per_link(16);
/// assert_eq!((config.traces.attributes_per_link, config.traces.batch.size), (Some(16), 512));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Traces {
    /// Where spans go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Settings::otlp`](super::Settings::otlp).
    pub otlp: OtlpSettings,
    /// Which roots are recorded. Children always do as their parent, also a remote one.
    pub sampler: Sampler,
    /// What one span may hold.
    pub limits: Limits,
    /// Attributes of one link, 128 by default.
    pub attributes_per_link: Option<u32>,
    /// How spans are put together into requests.
    pub batch: Batch,
}

/// Settings of metrics.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::{Config, TemporalityPreference};
///
/// let config = Config::new().with_temporality(TemporalityPreference::Delta);
/// assert_eq!(config.metrics.interval, Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// Where points go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Settings::otlp`](super::Settings::otlp).
    pub otlp: OtlpSettings,
    /// Time between two exports.
    pub interval: Duration,
    /// How long one export may take, with all its retries.
    pub timeout: Duration,
    /// Whether points count from the beginning or from the last export.
    pub temporality: TemporalityPreference,
    /// The shape of histograms that do not name their own.
    pub histograms: HistogramAggregation,
    /// Which measurements become exemplars.
    pub exemplars: Exemplars,
    /// How many series raw OpenTelemetry instruments may have.
    pub cardinality: CardinalityLimits,
    /// How streams of raw OpenTelemetry instruments are changed.
    pub views: Vec<View>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            exporters: None,
            otlp: OtlpSettings::default(),
            interval: Duration::from_secs(60),
            timeout: Duration::from_secs(30),
            temporality: TemporalityPreference::default(),
            histograms: HistogramAggregation::default(),
            exemplars: Exemplars::default(),
            cardinality: CardinalityLimits::default(),
            views: Vec::new(),
        }
    }
}

/// Settings of logs.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// assert_eq!(Config::new().logs.batch.delay, Duration::from_secs(1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Logs {
    /// Where log records go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Settings::otlp`](super::Settings::otlp).
    pub otlp: OtlpSettings,
    /// What one record may hold.
    pub limits: LogLimits,
    /// How records are put together into requests.
    pub batch: Batch,
    /// How events are written as lines to standard error. `None` if nothing was said: then as [`LogFormat::Auto`] if log
    /// records are exported or a level was set, and not at all otherwise.
    pub lines: Option<LogFormat>,
}

/// Where spans and log records wait on disk that cannot be sent.
///
/// ```
/// use tracecast::config::{Config, Spool};
///
/// let config = Config::new().with_spool(Spool::new("/var/lib/store/telemetry").with_max_bytes(16 << 20));
/// assert_eq!(config.spool.as_ref().map(|spool| spool.max_bytes), Some(16 << 20));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spool {
    /// The directory. It is made if need be, for its user alone, and may be shared by several processes. If others can write to
    /// it or own it, as to an `emptyDir` of Kubernetes, the spool uses a directory of mode 0700 inside of it.
    pub directory: Masked<PathBuf>,
    /// Bytes that it may hold, of all processes together. 64 MiB by default.
    pub max_bytes: u64,
    /// What is older is removed. A day by default.
    pub max_age: Duration,
}

impl Spool {
    /// A spool in this directory, with the default bounds.
    ///
    /// ```
    /// use tracecast::config::Spool;
    ///
    /// assert_eq!(Spool::new("/var/lib/store/telemetry").max_bytes, 64 << 20);
    /// ```
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Spool { directory: directory.into().into(), max_bytes: 64 << 20, max_age: Duration::from_secs(24 * 60 * 60) }
    }

    /// Limits the bytes on disk.
    ///
    /// ```
    /// use tracecast::config::Spool;
    ///
    /// assert_eq!(Spool::new("/var/lib/store/telemetry").with_max_bytes(1 << 20).max_bytes, 1 << 20);
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
    /// let hour = Duration::from_secs(60 * 60);
    /// assert_eq!(Spool::new("/var/lib/store/telemetry").with_max_age(hour).max_age, hour);
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
/// assert_eq!(config.logs.lines, Some(LogFormat::Json));
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
/// assert_eq!(config.console, ConsoleFormat::Json);
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
}

/// Where a signal goes, with nothing left open.
///
/// ```
/// use tracecast::config::{Config, Destination, Signal};
///
/// let config = Config::new().with_enabled(true);
/// let all = config.destinations(Signal::Logs);
/// assert!(matches!(&all[..], [Destination::Otlp(otlp)] if otlp.endpoint.path() == "/v1/logs"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// To a receiver. Boxed for its size.
    Otlp(Box<Otlp>),
    /// To standard error.
    Console,
}

/// How records are put together into requests.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let config = Config::from_variables(|name| (name == "OTEL_BSP_SCHEDULE_DELAY").then(|| "250".to_owned()));
/// assert_eq!(config.traces.batch.delay, Duration::from_millis(250));
/// assert_eq!(config.traces.batch.size, 512);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// The longest time between two exports: 5 s for spans, 1 s for logs.
    pub delay: Duration,
    /// How long one export may take, with all its retries.
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
/// use tracecast::config::{Config, LogLimits};
///
/// let mut limits = LogLimits::default();
/// limits.attributes = 32;
/// let config = Config::new().with_log_limits(limits);
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

/// From when points of sums and histograms count.
///
/// ```
/// use tracecast::config::{Config, TemporalityPreference};
///
/// assert_eq!(Config::new().metrics.temporality, TemporalityPreference::Cumulative);
/// let config = Config::new().with_temporality(TemporalityPreference::Delta);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemporalityPreference {
    /// From the beginning.
    #[default]
    Cumulative,
    /// From the last export; sums that can shrink from the beginning.
    Delta,
    /// From the last export where this needs no memory: synchronous counters and histograms.
    LowMemory,
}

impl From<TemporalityPreference> for Temporality {
    fn from(preference: TemporalityPreference) -> Self {
        use TemporalityPreference::{Cumulative, Delta, LowMemory};
        match preference {
            Cumulative => Temporality::Cumulative,
            Delta => Temporality::Delta,
            LowMemory => Temporality::LowMemory,
        }
    }
}

/// The shape of histograms that do not name their own.
///
/// ```
/// use tracecast::config::{Config, HistogramAggregation};
///
/// assert_eq!(Config::new().metrics.histograms, HistogramAggregation::ExplicitBuckets);
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
///
/// ```
/// use tracecast::config::{CardinalityLimits, Config};
///
/// let mut limits = CardinalityLimits::default();
/// (limits.default, limits.histogram) = (Some(500), Some(100));
/// let config = Config::new().with_cardinality(limits);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the limit of the kind that it is named after")]
#[non_exhaustive]
pub struct CardinalityLimits {
    pub default: Option<u32>,
    pub counter: Option<u32>,
    pub gauge: Option<u32>,
    pub histogram: Option<u32>,
    pub observable_counter: Option<u32>,
    pub observable_gauge: Option<u32>,
    pub observable_up_down_counter: Option<u32>,
    pub up_down_counter: Option<u32>,
}

/// What is said about the process: attributes that were configured. Detected ones are added at init.
///
/// ```
/// use tracecast::config::{AttributeValue, Config};
///
/// let config = Config::new().with_resource_attribute("deployment.environment.name", "production");
/// let value = config.resource.get("deployment.environment.name");
/// assert_eq!(value, Some(&AttributeValue::from("production")));
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// Names and values; each name stands once.
    pub attributes: Vec<(String, Masked<OwnedValue>)>,
    /// The schema of the attributes.
    pub schema_url: Option<Masked<String>>,
}

impl Resource {
    /// The value of an attribute.
    ///
    /// ```
    /// use tracecast::config::{AttributeValue, Config};
    ///
    /// let config = Config::new().with_role("daemon");
    /// assert_eq!(config.resource.get("tc.role"), Some(&AttributeValue::from("daemon")));
    /// assert_eq!(config.resource.get("host.name"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| &**value)
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
