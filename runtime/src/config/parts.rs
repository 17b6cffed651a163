//! The parts of a configuration, one per signal, and the values they take.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::otlp::{Otlp, OtlpSettings};
use super::views::View;
use crate::attribute::AttributeValue;
use crate::limits::Limits;
use crate::sampling::Sampler;
use crate::secret::Masked;

/// What stands for "no limit" of a timeout, because nothing here waits for ever.
pub(super) const NO_LIMIT: Duration = Duration::from_secs(3600);

/// Settings of traces.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Traces {
    /// Where spans go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Config::otlp`](super::Config::otlp).
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// Where points go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Config::otlp`](super::Config::otlp).
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
    pub exemplars: ExemplarFilter,
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
            exemplars: ExemplarFilter::default(),
            cardinality: CardinalityLimits::default(),
            views: Vec::new(),
        }
    }
}

/// Settings of logs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Logs {
    /// Where log records go. `None` if nothing was said, empty if they shall go nowhere.
    pub exporters: Option<Vec<Exporter>>,
    /// OTLP for this signal; what it leaves out is taken from [`Config::otlp`](super::Config::otlp).
    pub otlp: OtlpSettings,
    /// What one record may hold.
    pub limits: LogLimits,
    /// How records are put together into requests.
    pub batch: Batch,
    /// How events are written as lines to standard error. `None` if nothing was said: then as [`LogLines::Auto`] if log
    /// records are exported or a level was set, and not at all otherwise.
    pub lines: Option<LogLines>,
}

/// How far the OpenTelemetry API and ours know of each other, where the feature `otel` is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interop {
    /// Not at all: the program's own provider stays the global one.
    Off,
    /// Our provider is the global one. OpenTelemetry's current context is that of our client, server, producer and consumer
    /// spans while they are entered.
    #[default]
    Boundaries,
    /// It is that of all our spans. It costs some hundred instructions a span.
    Full,
}

/// Where spans and log records wait on disk that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spool {
    /// The directory. It is made if need be, and may be shared by several processes.
    pub directory: Masked<PathBuf>,
    /// Bytes that it may hold, of all processes together. 64 MiB by default.
    pub max_bytes: u64,
    /// What is older is removed. A day by default.
    pub max_age: Duration,
}

impl Spool {
    /// A spool in this directory, with the default bounds.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Spool { directory: directory.into().into(), max_bytes: 64 << 20, max_age: Duration::from_secs(24 * 60 * 60) }
    }

    /// Limits the bytes on disk.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Spool { max_bytes, ..self }
    }

    /// Limits how long anything stays on disk.
    #[must_use]
    pub fn with_max_age(self, max_age: Duration) -> Self {
        Spool { max_age, ..self }
    }
}

/// How log events are written as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogLines {
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exporter {
    /// OTLP. What is left out is taken from the signal's settings, then from those of all signals. Boxed for its size.
    Otlp(Box<OtlpSettings>),
    /// Text for humans on standard error.
    Console,
}

/// Where a signal goes, with nothing left open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// To a receiver. Boxed for its size.
    Otlp(Box<Otlp>),
    /// To standard error.
    Console,
}

/// How records are put together into requests.
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

/// The shape of histograms that do not name their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramAggregation {
    /// Buckets with given bounds.
    #[default]
    ExplicitBuckets,
    /// Exponential buckets with base 2.
    Exponential,
}

/// Which measurements become exemplars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExemplarFilter {
    /// Every one may.
    AlwaysOn,
    /// None.
    AlwaysOff,
    /// Those inside a sampled span.
    #[default]
    TraceBased,
}

/// How many series raw OpenTelemetry instruments may have; `None` is the default for all, or the SDK's 2,000.
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

/// A format in which context travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Propagator {
    /// W3C Trace Context.
    TraceContext,
    /// W3C Baggage.
    Baggage,
    /// B3 in one header.
    B3,
    /// B3 in several headers.
    B3Multi,
}

/// What is said about the process: attributes that were configured. Detected ones are added at init.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// Names and values; each name stands once.
    pub attributes: Vec<(String, Masked<AttributeValue>)>,
    /// The schema of the attributes.
    pub schema_url: Option<Masked<String>>,
}

impl Resource {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| &**value)
    }

    /// Sets an attribute, instead of an earlier one with its name.
    pub(super) fn set(&mut self, name: &str, value: Masked<AttributeValue>) {
        match self.attributes.iter_mut().find(|(given, _)| given == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.attributes.iter().map(|(name, value)| (name, value))).finish()
    }
}
