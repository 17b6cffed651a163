//! From a configuration to telemetry that leaves the process, and to its end.

use std::fmt;
use std::time::Duration;

use crate::collector::{Collector, Plan, Progress, Receiver};
use crate::config::{Compression, Config, Destination, Otlp, Problem, Severity, Signal, TemporalityPreference};
use crate::filter::Filter;
use crate::metering::{Metering, MeteringConfig, MeteringError, UnknownMetric};
use crate::recording::{Recording, RecordingConfig};
use crate::resource;
use crate::sampling::{self, Sampler};
use crate::snapshot::Temporality;
use crate::transport::{Target, Transport};
use crate::{notice, switch};

/// How long a guard that is dropped waits for what is left.
const AT_DROP: Duration = Duration::from_secs(5);

/// Starts telemetry as the environment says: `OTEL_*` variables, or the file that `OTEL_CONFIG_FILE` names. Nothing is on
/// unless something there says so.
///
/// It never fails the program. A setting that is wrong is told on standard error and left out; if telemetry cannot start
/// at all, that is told, and the program runs without. With `TC_STRICT=true`, or with [`try_init`], that is an error.
pub fn init() -> Guard {
    match try_init() {
        Ok(guard) => guard,
        Err(error) => {
            notice::say(format_args!("telemetry is off: {error}"));
            Guard::off()
        }
    }
}

/// As [`init`], and gives an error if telemetry cannot start, or if a setting is wrong and `TC_STRICT` is set.
///
/// # Errors
/// If telemetry runs already, a metric is declared twice with different shapes, the collector cannot start, or a receiver
/// cannot be spoken to as it is described.
pub fn try_init() -> Result<Guard, InitError> {
    Config::from_env().init()
}

/// Why telemetry cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum InitError {
    /// It runs already.
    AlreadyRunning,
    /// Settings are wrong, and the configuration is strict.
    Config(Vec<Problem>),
    /// A metric is declared twice with different shapes.
    Metrics(MeteringError),
    /// A receiver cannot be spoken to as it is described.
    Receiver {
        /// What would have gone there.
        signal: Signal,
        /// What is wrong.
        cause: String,
    },
    /// There is no thread for the collector.
    Thread(std::io::Error),
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InitError::AlreadyRunning => f.write_str("telemetry is already running; call `init` once, in `main`"),
            InitError::Config(problems) => {
                let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            InitError::Metrics(error) => error.fmt(f),
            InitError::Receiver { signal, cause } => write!(f, "the receiver of {}: {cause}", signal.name()),
            InitError::Thread(error) => write!(f, "could not start the collector: {error}"),
        }
    }
}

impl std::error::Error for InitError {}

/// Telemetry runs for as long as this lives. Dropped, it brings out what is left, for up to five seconds.
#[must_use = "telemetry stops when the guard is dropped; bind it to a name in `main`"]
pub struct Guard {
    collector: Option<Collector>,
    metering: Option<Metering>,
    /// The process it belongs to: in a forked child there is no collector to wait for.
    process: u32,
}

/// What became of all telemetry of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Sampled spans that have ended.
    pub spans_ended: u64,
    /// Spans that the receivers took. With several receivers each counts.
    pub spans_exported: u64,
    /// Spans that were lost, for whatever reason.
    pub spans_dropped: u64,
    /// Spans that were still waiting when the time was up.
    pub spans_left: u64,
    /// Metric points that the receivers took.
    pub points_exported: u64,
    /// Whether nothing was left to send.
    pub complete: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { spans_ended, spans_exported, spans_dropped, spans_left, points_exported, .. } = self;
        write!(
            f,
            "{spans_ended} spans ended = {spans_exported} exported + {spans_dropped} dropped + {spans_left} left; "
        )?;
        write!(f, "{points_exported} metric points exported")
    }
}

impl Report {
    fn of(progress: &Progress) -> Self {
        let Progress { spans, points, ended, dropped, buffered, complete } = progress;
        Report {
            spans_ended: *ended,
            spans_exported: spans.exported,
            spans_dropped: dropped + spans.no_room + spans.refused,
            spans_left: buffered + spans.waiting,
            points_exported: points.exported,
            complete: *complete,
        }
    }
}

impl Guard {
    fn off() -> Self {
        Guard { collector: None, metering: None, process: std::process::id() }
    }

    /// Brings out all that has ended by now, for up to `timeout`, and says how far it came.
    pub fn flush(&self, timeout: Duration) -> Report {
        let collector = self.collector.as_ref().filter(|_| self.process == std::process::id());
        collector.map_or_else(Report::default, |collector| Report::of(&collector.flush(timeout)))
    }

    /// Switches telemetry off, brings out what is left, for up to `timeout`, and says what became of everything.
    pub fn shutdown(mut self, timeout: Duration) -> Report {
        self.end(timeout)
    }

    fn end(&mut self, timeout: Duration) -> Report {
        // First nothing more comes in; the reader still reads what is there.
        drop(self.metering.take());
        let collector = self.collector.take().filter(|_| self.process == std::process::id());
        collector.map_or_else(Report::default, |mut collector| Report::of(&collector.shutdown(timeout)))
    }

    /// Changes which roots are recorded. Traces that have begun go on as they began.
    pub fn set_sampler(&self, sampler: &Sampler) {
        sampling::set(sampler);
    }

    /// Changes which components make spans. Spans that are open finish as they began.
    pub fn set_filter(&self, filter: Filter) {
        if self.collector.is_some() {
            switch::set_filter(filter);
        }
    }

    /// Switches metrics off or on again, by name, or by the start of their names with `*` behind it.
    ///
    /// # Errors
    /// If there is none of that name, or metrics are off as a whole.
    pub fn switch_metric(&self, name: &str, on: bool) -> Result<(), UnknownMetric> {
        self.metering.as_ref().ok_or_else(|| UnknownMetric(name.to_owned()))?.switch(name, on)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end(AT_DROP);
    }
}

impl Config {
    /// Starts telemetry as this says.
    ///
    /// # Errors
    /// As for [`try_init`].
    pub fn init(self) -> Result<Guard, InitError> {
        tell_problems(&self)?;
        let [traces, metrics] = [Signal::Traces, Signal::Metrics].map(|signal| self.destinations(signal));
        if self.is_on(Signal::Logs) {
            notice::say(format_args!("log records are not exported yet"));
        }
        if traces.is_empty() && metrics.is_empty() {
            return Ok(Guard::off());
        }
        let receivers = (receivers(Signal::Traces, &traces)?, receivers(Signal::Metrics, &metrics)?);
        let metering = if metrics.is_empty() { None } else { Some(start_metering()?) };
        let recording = if traces.is_empty() { None } else { Some(start_recording(&self)?) };
        let reader = metering.as_ref().map(|metering| metering.reader(temporality(&self)));
        let plan = Plan {
            resource: resource::describe(&self),
            recording,
            traces: receivers.0,
            batch_size: self.traces.batch.size as usize,
            batch_delay: self.traces.batch.delay,
            reader,
            metrics: receivers.1,
            interval: self.metrics.interval,
            limit: self.memory_limit / (traces.len() + metrics.len()).max(1) / 2,
        };
        let collector = Collector::start(plan).map_err(InitError::Thread)?;
        notice::say(format_args!("{}; {}", started("traces", &traces), started("metrics", &metrics)));
        Ok(Guard { collector: Some(collector), metering, process: std::process::id() })
    }
}

fn tell_problems(config: &Config) -> Result<(), InitError> {
    let problems = config.problems();
    if config.strict && !problems.is_empty() {
        return Err(InitError::Config(problems.to_vec()));
    }
    for problem in problems {
        let level = if problem.severity == Severity::Error { "error" } else { "warning" };
        notice::say(format_args!("{level}: {problem}"));
    }
    Ok(())
}

fn start_metering() -> Result<Metering, InitError> {
    Metering::start(MeteringConfig::default()).map_err(|error| match error {
        MeteringError::AlreadyMetering => InitError::AlreadyRunning,
        other => InitError::Metrics(other),
    })
}

fn start_recording(config: &Config) -> Result<Recording, InitError> {
    let recording = RecordingConfig {
        sampler: config.traces.sampler.clone(),
        limits: config.traces.limits,
        filter: config.filter.clone().into_inner(),
        ..RecordingConfig::default()
    };
    Recording::start(recording).map_err(|_| InitError::AlreadyRunning)
}

fn temporality(config: &Config) -> Temporality {
    match config.metrics.temporality {
        TemporalityPreference::Cumulative => Temporality::Cumulative,
        TemporalityPreference::Delta | TemporalityPreference::LowMemory => Temporality::Delta,
    }
}

fn receivers(signal: Signal, destinations: &[Destination]) -> Result<Vec<Receiver>, InitError> {
    let receiver = |destination: &Destination| match destination {
        Destination::Console => Ok(Receiver::Console),
        Destination::Otlp(otlp) => {
            let transport = Transport::new(&target(otlp), signal);
            let transport = transport.map_err(|error| InitError::Receiver { signal, cause: error.to_string() })?;
            let what = format!("{} to {}", signal.name(), otlp.endpoint);
            Ok(Receiver::Otlp { what, protocol: otlp.protocol, transport: Box::new(transport) })
        }
    };
    destinations.iter().map(receiver).collect()
}

fn started(signal: &str, destinations: &[Destination]) -> String {
    let to = |destination: &Destination| match destination {
        Destination::Console => "the console".to_owned(),
        Destination::Otlp(otlp) => format!("{} by {}", otlp.endpoint, otlp.protocol.name()),
    };
    let all: Vec<_> = destinations.iter().map(to).collect();
    if all.is_empty() { format!("{signal} off") } else { format!("{signal} to {}", all.join(" and ")) }
}

fn target(otlp: &Otlp) -> Target {
    Target {
        protocol: otlp.protocol,
        url: otlp.endpoint.url(),
        headers: otlp.headers.clone(),
        gzip: otlp.compression == Compression::Gzip,
        timeout: otlp.timeout,
        tls: otlp.tls.clone(),
    }
}
