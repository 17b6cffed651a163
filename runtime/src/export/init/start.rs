//! Turns a configuration into receivers and shares of memory for each signal, and writes the start-up line.

use std::sync::Arc;
use std::time::Duration;

use super::error::InitError;
use crate::base::notice;
use crate::catalogue::list::catalogue;
use crate::config::{Batch, Config, Destination, Otlp, Signal};
#[cfg(has_logs)]
use crate::config::{ConsoleFormat, Exporter, LogFormat};
use crate::encode::views::Views;
use crate::export::pipeline::{Change, Disk, ExporterSettings, OtlpReceiver, Plan, Readings, Receiver, Setup};
use crate::export::resource;
use crate::export::scrape::Scraped;
use crate::export::spool::{self, Encoding, Spool};
use crate::export::transport::Transport;
use crate::meter::metering::{MetricsConfig, MetricsGuard};
use crate::meter::snapshot::Temporality;
use crate::propagate::conventions;
use crate::propagate::propagation;
use crate::record::limits;
use crate::record::recorder::{Capacity, Memory};
use crate::record::sampling::Sampler;
use crate::trace::external;
use crate::trace::recording::{self, Recording, RecordingConfig};

/// The shares of `memory_limit` besides the recorder's part (`recorder::reserved`): together a quarter for pending
/// requests and for log lines that standard error does not take yet, and a sixteenth each for log records and for
/// third-party spans. Log records may also use half of the memory that pending requests leave free.
struct Shares(usize);

impl Shares {
    /// The bytes for queued log records. Third-party spans have a share of the same size.
    fn queue(&self) -> usize {
        self.0 / 16
    }

    /// The bytes for queued log records while no request is pending.
    #[cfg(has_logs)]
    fn records(&self) -> usize {
        self.queue() + self.requests() / 2
    }

    /// The bytes reserved for pending requests.
    fn requests(&self) -> usize {
        self.0 / 4 - self.lines()
    }

    /// The bytes for lines while standard error blocks.
    fn lines(&self) -> usize {
        self.0 / 32
    }
}

/// Makes the fixed settings of the export thread.
pub(super) fn plan(config: &Config) -> Plan {
    let (resource, redact) = (resource::describe(config), config.redact.clone());
    let log_queue = Shares(config.settings.memory_limit).queue();
    Plan { resource, redact, memory_limit: config.settings.memory_limit, log_queue }
}

/// Sets the formats of propagation headers, and the names of attributes that layers write.
pub(super) fn propagate(config: &Config) {
    conventions::opt_in(config.settings.semconv.iter().map(|entry| entry.trim()));
    propagation::set(config.settings.propagators.iter().copied());
}

/// Enables context propagation, with the recorder's memory, whichever signals are on. Also limits the memory of lines
/// that standard error does not take yet.
pub(super) fn prepare(config: &Config) {
    recording::prepare(Memory::Within(config.settings.memory_limit));
    notice::set_limit(Shares(config.settings.memory_limit).lines());
}

/// Opens the spool, if one is configured. If that fails, warns and returns `None`: telemetry starts without a spool.
pub(super) fn open_spool(config: &Config) -> Option<Spool> {
    let settings = config.settings.spool.clone()?;
    let is_hidden = settings.directory.is_hidden();
    match Spool::open(settings) {
        Ok(spool) => Some(spool),
        Err(error) if is_hidden => {
            notice::say(format_args!("warning: spool disabled: the directory cannot be used: {}", error.text));
            None
        }
        Err(error) => {
            notice::say(format_args!("warning: spool disabled: {error}"));
            None
        }
    }
}

/// The settings of a signal's receivers: destinations, the maximum number of pending items, and the timeout of a request.
pub(super) fn receiver_settings(config: &Config, signal: Signal) -> (Vec<Destination>, Option<u32>, Duration) {
    let (queue, timeout) = match signal {
        Signal::Traces => of_batch(&config.settings.traces.batch),
        Signal::Metrics => (None, config.settings.metrics.timeout),
        Signal::Logs => of_batch(&config.settings.logs.batch),
    };
    (config.resolved(signal), queue, timeout)
}

/// Makes the receivers of a signal, with their transports.
pub(super) fn receivers(config: &Config, signal: Signal, spool: Option<&Spool>) -> Result<Vec<Receiver>, InitError> {
    let (destinations, queue, timeout) = receiver_settings(config, signal);
    // Only one receiver of a signal uses the disk, because stored requests do not name their receiver.
    let mut spool = spool.zip(spool::Spooled::of(signal));
    let most_items = queue.map_or(u64::MAX, u64::from);
    let mut receiver = |destination: &Destination| match destination {
        Destination::Console => Ok(Receiver::Console(config.settings.console)),
        Destination::Prometheus(address) => Ok(Receiver::Prometheus(address.clone())),
        Destination::Otlp(otlp) => {
            // The timeouts of a request and of an export both limit one attempt. Retries are limited by memory:
            // requests are not given up because of time.
            let transport = Transport::new(&Otlp { timeout: otlp.timeout.min(timeout), ..(**otlp).clone() }, signal);
            let transport = transport.map_err(|error| InitError::Receiver { signal, cause: error.to_string() })?;
            let disk =
                spool.take().map(|(spool, signal)| Disk::new(spool.clone(), signal, Encoding::of(otlp.protocol)));
            let (backend, protocol, transport) = (otlp.endpoint.to_string(), otlp.protocol, Box::new(transport));
            Ok(Receiver::Otlp(OtlpReceiver { signal, backend, protocol, transport, most_items, disk }))
        }
    };
    destinations.iter().map(&mut receiver).collect()
}

fn of_batch(batch: &Batch) -> (Option<u32>, Duration) {
    (batch.queue, batch.timeout)
}

/// Takes the custom exporters out of the configuration, and limits their pending spans. Returns none if telemetry is
/// turned off.
pub(super) fn custom_exporters(config: &Config) -> impl Iterator<Item = Receiver> {
    let exporters = if config.settings.enabled == Some(false) { Vec::new() } else { config.custom_exporters.take() };
    // A span takes about 1 KiB as owned data.
    let room = (Shares(config.settings.memory_limit).requests() >> 10) as u64 / exporters.len().max(1) as u64;
    let (room, timeout) = (
        config.settings.traces.batch.queue.map_or(room, |queue| room.min(queue.into())),
        config.settings.traces.batch.timeout,
    );
    exporters.into_iter().map(move |exporter| Receiver::Custom(ExporterSettings { exporter, timeout, room }))
}

pub(super) fn traces(config: &Config, new: bool, receivers: Option<Vec<Receiver>>) -> Result<Change, InitError> {
    let recording = if new { Some(start_recording(config)?) } else { None };
    limits::set_attributes_per_link(config.settings.traces.attributes_per_link);
    if new {
        external::start(Shares(config.settings.memory_limit).queue());
    }
    let Batch { size, delay, .. } = config.settings.traces.batch;
    Ok(Change::Traces(Setup { feed: recording, receivers, size, delay }))
}

/// Chooses the format of log lines. Without a configured format, lines are on if log levels were set or logs are
/// exported, and no other subscriber writes lines. The console exporter of logs turns lines on in any case, if its
/// format is text.
#[cfg(has_logs)]
fn lines(config: &Config) -> LogFormat {
    use crate::config::Origin;

    let asked_for =
        matches!(config.origin("log_filter"), Origin::Variable("LOG_LEVEL") | Origin::Code | Origin::Section);
    // A subscriber of the program writes lines itself.
    let is_implied = crate::logs::foreign_subscriber().is_none() && (asked_for || config.is_on(Signal::Logs));
    let format = config.settings.logs.lines.unwrap_or(if is_implied { LogFormat::Auto } else { LogFormat::None });
    // The console exporter shows log records as lines, so naming it for logs turns lines on.
    let is_named = config.settings.logs.exporters.iter().flatten().any(|exporter| *exporter == Exporter::Console);
    let is_shown = is_named && config.is_on(Signal::Logs) && config.settings.console == ConsoleFormat::Text;
    if is_shown && format == LogFormat::None { LogFormat::Auto } else { format }
}

/// Formats notices like log lines, if log lines are on.
pub(super) fn format_notices(config: &Config) {
    #[cfg(has_logs)]
    notice::set_format(crate::logs::notices(lines(config), &resource::service_name(config)));
    #[cfg(not(has_logs))]
    let _ = config;
}

/// Starts to handle log events; `None` if they become neither lines nor records. Warns if the program's own subscriber
/// lacks our layer, so that events are not exported.
#[cfg(has_logs)]
pub(super) fn logs(config: &Config) -> Option<Arc<crate::logs::Logs>> {
    use crate::logs::{LogsConfig, RecordsConfig};

    let (lines, destinations) = (lines(config), config.resolved(Signal::Logs));
    if crate::logs::foreign_subscriber() == Some(false) && !destinations.is_empty() {
        notice::say(format_args!(
            "warning: events of `tracing` are not exported: add `tracecast::logs::layer()` to the program's subscriber"
        ));
    }
    let records = (!destinations.is_empty())
        .then(|| RecordsConfig { queue_bytes: Shares(config.settings.memory_limit).records() });
    if lines == LogFormat::None && records.is_none() {
        return None;
    }
    Some(Arc::new(crate::logs::start(LogsConfig {
        service: resource::service_name(config),
        filter: config.settings.log_filter.clone().into_inner(),
        lines,
        sink: None,
        limits: config.settings.logs.limits,
        records,
        redact: config.redact.clone(),
        install: true,
    })))
}

/// Running metrics.
pub(super) struct Meter {
    pub(super) metering: MetricsGuard,
    views: Arc<Views>,
    #[cfg(has_otel)]
    meters: Option<Arc<crate::interop::otel::metrics::Meters>>,
    /// All metrics, for scrapers.
    pub(super) scraped: Arc<Scraped>,
}

impl Meter {
    pub(super) fn start(config: &Config) -> Result<Self, InitError> {
        if config.settings.strict {
            let conflicts = catalogue().conflicts();
            if !conflicts.is_empty() {
                return Err(InitError::Metrics(conflicts));
            }
        }
        let (views, warnings) = Views::new(&config.settings.metrics.views);
        for warning in warnings {
            notice::say(format_args!("warning: {warning}"));
        }
        let metering = MetricsConfig {
            off: views.off(),
            exemplars: config.settings.metrics.exemplars,
            ..MetricsConfig::default()
        };
        let metering = MetricsGuard::start(metering).map_err(|_| InitError::AlreadyRunning)?;
        let views = Arc::new(views);
        #[cfg(has_otel)]
        let meters = (config.settings.interop != crate::config::Interop::Off)
            .then(|| Arc::new(crate::interop::otel::metrics::Meters::start(&config.settings.metrics)));
        let scraped = Arc::new(Scraped {
            reader: metering.reader(Temporality::Cumulative).into(),
            views: views.clone(),
            sdk_names: config.settings.metrics.sdk_names,
            #[cfg(has_otel)]
            meters: meters.clone(),
            redact: config.redact.clone(),
        });
        Ok(Meter {
            metering,
            views,
            #[cfg(has_otel)]
            meters,
            scraped,
        })
    }

    /// Creates the readers of metrics for the export thread.
    fn readings(&self, config: &Config) -> Readings {
        Readings {
            reader: self.metering.reader(config.settings.metrics.temporality.of_declared()),
            views: self.views.clone(),
            sdk_names: config.settings.metrics.sdk_names,
            #[cfg(has_otel)]
            meters: self.meters.clone(),
            scraped: self.scraped.clone(),
        }
    }
}

#[cfg(has_otel)]
impl Drop for Meter {
    fn drop(&mut self) {
        // The export thread may still hold the meters for a moment, and they must not run when telemetry starts again.
        self.meters.iter().for_each(|meters| meters.stop());
    }
}

pub(super) fn metrics(config: &Config, new: Option<&Meter>, receivers: Option<Vec<Receiver>>) -> Change {
    let feed = new.map(|meter| meter.readings(config));
    Change::Metrics(Setup { feed, receivers, size: u32::MAX, delay: config.settings.metrics.interval })
}

fn start_recording(config: &Config) -> Result<Recording, InitError> {
    prepare(config);
    let recording = RecordingConfig {
        // `prepare` has allocated the recorder within the memory limit.
        capacity: Capacity::default(),
        sampler: config.settings.traces.sampler.clone(),
        limits: config.settings.traces.limits,
        filter: config.settings.filter.clone().into_inner(),
    };
    Recording::start(recording).map_err(|_| InitError::AlreadyRunning)
}

/// Writes the line about a start or, with a prefix, a reload: each signal with its destinations, and the origin of each
/// setting.
pub(super) fn announce(prefix: &str, config: &Config, custom: usize) {
    let custom = |signal| if signal == Signal::Traces { custom } else { 0 };
    let signals = Signal::ALL.map(|signal| signal_described(config, signal, custom(signal))).join("; ");
    let settings: Vec<_> = config.origins().map(|(setting, origin)| format!("{setting} ({origin})")).collect();
    let settings = if settings.is_empty() { "defaults only".to_owned() } else { settings.join(", ") };
    let line = format!("{prefix}{signals}; set: {settings}");
    match compiled_out() {
        Some(compiled_out) => notice::at(notice::WARN, format_args!("warning: {compiled_out}; {line}")),
        None => notice::at(notice::INFO, format_args!("{line}")),
    }
}

/// Returns the notice that the feature `off` has removed spans and metrics from the program; `None` if the feature is
/// not enabled. Any dependency can enable it.
pub(super) fn compiled_out() -> Option<&'static str> {
    cfg!(feature = "off").then_some(
        "annotated spans and declared metrics are compiled out by the feature `off` of tracecast; \
         `cargo tree -e features -i tracecast` shows what enables it",
    )
}

fn signal_described(config: &Config, signal: Signal, custom: usize) -> String {
    let mut all = config.destinations(signal);
    all.extend((0..custom).map(|_| "a custom exporter".to_owned()));
    let name = match signal {
        Signal::Traces if cfg!(feature = "off") => "traces (annotated spans compiled out)",
        Signal::Metrics if cfg!(feature = "off") => "metrics (declared metrics compiled out)",
        _ => signal.name(),
    };
    #[cfg(has_logs)]
    if signal == Signal::Logs && lines(config) != LogFormat::None {
        // The console exporter also writes to standard error, and shows log records as these lines.
        let is_console = |destination: &Destination| matches!(destination, Destination::Console);
        let shown = config.resolved(signal).iter().any(is_console);
        all.extend((!shown).then(|| "standard error".to_owned()));
    }
    if all.is_empty() {
        return format!("{name} off");
    }
    let how = match signal {
        Signal::Traces => format!(", sampler {}", sampler_described(&config.settings.traces.sampler)),
        // Metrics that are only scraped have no interval.
        Signal::Metrics if config.resolved(signal).iter().all(|to| matches!(to, Destination::Prometheus(_))) => {
            String::new()
        }
        Signal::Metrics => format!(" every {:?}", config.settings.metrics.interval),
        Signal::Logs => String::new(),
    };
    format!("{name} to {}{how}", all.join(" and "))
}

fn sampler_described(sampler: &Sampler) -> String {
    match sampler {
        Sampler::AlwaysOn => "always_on".to_owned(),
        Sampler::AlwaysOff => "always_off".to_owned(),
        Sampler::Ratio(ratio) => format!("traceidratio {ratio}"),
        Sampler::Custom(_) => "custom".to_owned(),
    }
}
