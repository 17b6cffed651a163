//! What a configuration means for each signal: its receivers, how much memory they get, and what is said about it.

use std::sync::Arc;
use std::time::Duration;

use super::error::InitError;
use crate::base::notice;
use crate::catalogue::list::catalogue;
use crate::config::{Batch, Config, Destination, Otlp, Signal};
#[cfg(has_logs)]
use crate::config::{ConsoleFormat, Exporter, LogFormat};
use crate::encode::views::Views;
use crate::export::pipeline::{Change, Disk, OtlpReceiver, Plan, Plugged, Readings, Receiver, Setup};
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
use crate::trace::foreign;
use crate::trace::recording::{self, Recording, RecordingConfig};

/// How `memory_limit` is shared out besides the recorder's part (`recorder::reserved`): a quarter at least to requests that wait
/// for their receivers and to lines that wait for standard error, and a sixteenth each to log records and to spans of others.
/// Log records may also use half of what requests do not use.
struct Shares(usize);

impl Shares {
    /// For log records that wait for the export thread, and as much for spans of others.
    fn queue(&self) -> usize {
        self.0 / 16
    }

    /// For log records, as long as no requests wait.
    #[cfg(has_logs)]
    fn records(&self) -> usize {
        self.queue() + self.requests() / 2
    }

    /// For requests that wait, in any case.
    fn requests(&self) -> usize {
        self.0 / 4 - self.lines()
    }

    /// For lines that wait while standard error takes none.
    fn lines(&self) -> usize {
        self.0 / 32
    }
}

/// What the export thread has to know from the beginning.
pub(super) fn plan(config: &Config) -> Plan {
    let (resource, redact) = (resource::describe(config), config.redact.clone());
    let log_queue = Shares(config.settings.memory_limit).queue();
    Plan { resource, redact, memory_limit: config.settings.memory_limit, log_queue }
}

/// Has contexts travel in the formats, and layers write the names, that were configured.
pub(super) fn propagate(config: &Config) {
    conventions::opt_in(config.settings.semconv.iter().map(|entry| entry.trim()));
    propagation::set(config.settings.propagators.iter().copied());
}

/// Has contexts work, whichever signals are on.
pub(super) fn prepare(config: &Config) {
    recording::prepare(Memory::Within(config.settings.memory_limit));
    notice::set_limit(Shares(config.settings.memory_limit).lines());
}

/// Opens the spool. Without one that works telemetry starts all the same.
pub(super) fn open_spool(config: &Config) -> Option<Spool> {
    let settings = config.settings.spool.clone()?;
    let is_hidden = settings.directory.is_hidden();
    match Spool::open(settings) {
        Ok(spool) => Some(spool),
        Err(error) if is_hidden => {
            notice::say(format_args!(
                "warning: nothing is kept on disk: the spool directory cannot be used: {}",
                error.text
            ));
            None
        }
        Err(error) => {
            notice::say(format_args!("warning: nothing is kept on disk: {error}"));
            None
        }
    }
}

/// What the receivers of a signal are made of: where they are, how many items may wait, and how long a request may take.
pub(super) fn receiver_settings(config: &Config, signal: Signal) -> (Vec<Destination>, Option<u32>, Duration) {
    let (queue, timeout) = match signal {
        Signal::Traces => of_batch(&config.settings.traces.batch),
        Signal::Metrics => (None, config.settings.metrics.timeout),
        Signal::Logs => of_batch(&config.settings.logs.batch),
    };
    (config.resolved(signal), queue, timeout)
}

/// The receivers of a signal, and how they are to be spoken to.
pub(super) fn receivers(config: &Config, signal: Signal, spool: Option<&Spool>) -> Result<Vec<Receiver>, InitError> {
    let (destinations, queue, timeout) = receiver_settings(config, signal);
    // One receiver of a signal has the disk; requests there do not say whom they are for.
    let mut spool = spool.zip(spool::Spooled::of(signal));
    let most_items = queue.map_or(u64::MAX, u64::from);
    let mut receiver = |destination: &Destination| match destination {
        Destination::Console => Ok(Receiver::Console(config.settings.console)),
        Destination::Prometheus(address) => Ok(Receiver::Prometheus(address.clone())),
        Destination::Otlp(otlp) => {
            // An attempt takes no longer than what was said of one, and no longer than what was said of the whole export. How
            // often it is repeated is up to the memory: requests for a receiver that is down are not given up because of time.
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

/// The exporters that the program brought along.
pub(super) fn plugged(config: &Config) -> impl Iterator<Item = Receiver> {
    let exporters = if config.settings.enabled == Some(false) { Vec::new() } else { config.plugged.take() };
    // As plain data a span takes about this much.
    let room = (Shares(config.settings.memory_limit).requests() >> 10) as u64 / exporters.len().max(1) as u64;
    let (room, timeout) = (
        config.settings.traces.batch.queue.map_or(room, |queue| room.min(queue.into())),
        config.settings.traces.batch.timeout,
    );
    exporters.into_iter().map(move |exporter| Receiver::Plugged(Plugged { exporter, timeout, room }))
}

pub(super) fn traces(config: &Config, new: bool, receivers: Option<Vec<Receiver>>) -> Result<Change, InitError> {
    let recording = if new { Some(start_recording(config)?) } else { None };
    limits::set_attributes_per_link(config.settings.traces.attributes_per_link);
    if new {
        foreign::start(Shares(config.settings.memory_limit).queue());
    }
    let Batch { size, delay, .. } = config.settings.traces.batch;
    Ok(Change::Traces(Setup { feed: recording, receivers, size, delay }))
}

/// How log lines look.
#[cfg(has_logs)]
fn lines(config: &Config) -> LogFormat {
    use crate::config::Origin;

    let asked_for =
        matches!(config.origin("log_filter"), Origin::Variable("LOG_LEVEL") | Origin::Code | Origin::Section);
    // A program with a subscriber of its own has lines of its own.
    let is_implied = crate::logs::foreign_subscriber().is_none() && (asked_for || config.is_on(Signal::Logs));
    let format = config.settings.logs.lines.unwrap_or(if is_implied { LogFormat::Auto } else { LogFormat::None });
    // The console shows log records as lines, and who names it as their exporter wants to see them.
    let is_named = config.settings.logs.exporters.iter().flatten().any(|exporter| *exporter == Exporter::Console);
    let is_shown = is_named && config.is_on(Signal::Logs) && config.settings.console == ConsoleFormat::Text;
    if is_shown && format == LogFormat::None { LogFormat::Auto } else { format }
}

/// Has notices look like log lines, if there are any.
pub(super) fn format_notices(config: &Config) {
    #[cfg(has_logs)]
    notice::set_format(crate::logs::notices(lines(config), &resource::service_name(config)));
    #[cfg(not(has_logs))]
    let _ = config;
}

/// Starts to handle log events, if they shall become lines or records.
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

/// Metrics while they are on.
pub(super) struct Meter {
    pub(super) metering: MetricsGuard,
    views: Arc<Views>,
    #[cfg(has_otel)]
    meters: Option<Arc<crate::interop::otel::metrics::Meters>>,
    /// All metrics, for those who scrape.
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

    /// All of it for the export thread.
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
        // The export thread may have a share of them for a little longer, and another start must not find them in its place.
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
        // The recorder is there, within the memory limit.
        capacity: Capacity::default(),
        sampler: config.settings.traces.sampler.clone(),
        limits: config.settings.traces.limits,
        filter: config.settings.filter.clone().into_inner(),
    };
    Recording::start(recording).map_err(|_| InitError::AlreadyRunning)
}

/// Writes one line about what is on, where it goes, how, and who said so.
pub(super) fn announce(prefix: &str, config: &Config, plugged: usize) {
    let plugged = |signal| if signal == Signal::Traces { plugged } else { 0 };
    let signals = Signal::ALL.map(|signal| signal_described(config, signal, plugged(signal))).join("; ");
    let settings: Vec<_> = config.origins().map(|(setting, origin)| format!("{setting} ({origin})")).collect();
    let settings = if settings.is_empty() { "defaults only".to_owned() } else { settings.join(", ") };
    let line = format!("{prefix}{signals}; set: {settings}");
    match compiled_out() {
        Some(compiled_out) => notice::at(notice::WARN, format_args!("warning: {compiled_out}; {line}")),
        None => notice::at(notice::INFO, format_args!("{line}")),
    }
}

/// Spans and metrics that the feature `off` has removed from the program, if it is on. Any dependency can enable it.
pub(super) fn compiled_out() -> Option<&'static str> {
    cfg!(feature = "off").then_some(
        "annotated spans and declared metrics are compiled out by the feature `off` of tracecast; \
         `cargo tree -e features -i tracecast` shows what enables it",
    )
}

fn signal_described(config: &Config, signal: Signal, plugged: usize) -> String {
    let mut all = config.destinations(signal);
    all.extend((0..plugged).map(|_| "an exporter of the program".to_owned()));
    let name = match signal {
        Signal::Traces if cfg!(feature = "off") => "traces without annotated spans",
        Signal::Metrics if cfg!(feature = "off") => "metrics without declared ones",
        _ => signal.name(),
    };
    #[cfg(has_logs)]
    if signal == Signal::Logs && lines(config) != LogFormat::None {
        // The console is standard error, too, and shows log records as these lines.
        let is_console = |destination: &Destination| matches!(destination, Destination::Console);
        let shown = config.resolved(signal).iter().any(is_console);
        all.extend((!shown).then(|| "standard error".to_owned()));
    }
    if all.is_empty() {
        return format!("{name} off");
    }
    let how = match signal {
        Signal::Traces => format!(", sampler {}", sampler_described(&config.settings.traces.sampler)),
        // Those that are only scraped have no interval.
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
        Sampler::Custom(_) => "of the program".to_owned(),
    }
}
