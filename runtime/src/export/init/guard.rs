//! What a program holds while telemetry runs.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{InitError, NoExporter, ReloadError};
use super::panic;
use super::report::Report;
use super::start::{self, Meter};
use super::tell_problems;
use crate::base::notice;
use crate::config::{Config, ConfigError, Problem, Severity, Signal, Source};
use crate::declare::filter::Filter;
use crate::declare::switch;
use crate::declare::value::OwnedValue;
use crate::export::pipeline::{Change, ExportThread, Receiver};
use crate::export::scrape::Scraped;
use crate::export::self_metrics;
use crate::export::spool::Spool;
use crate::meter::exposition::Form;
use crate::meter::metering::UnknownMetric;
use crate::record::limits;
use crate::record::sampling::{self, Sampler};
use crate::trace::foreign;

/// How long a guard that is dropped waits for what is left.
const AT_DROP: Duration = Duration::from_secs(5);

/// The process in which telemetry runs, or 0.
static RUNNING_IN: AtomicU32 = AtomicU32::new(0);

/// Telemetry runs for as long as this lives. Dropped, it brings out what is left, for up to five seconds; so it does when
/// `main` panics.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
///
/// let telemetry = Config::new().with_service_name("store").init()?;
/// // .. the program runs ..
/// let report = telemetry.shutdown(Duration::from_secs(5));
/// assert_eq!(report.spans_pending, 0);
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[must_use = "telemetry stops when the guard is dropped; bind it to a name in `main`"]
pub struct Guard {
    running: Mutex<Option<Running>>,
    /// The process it belongs to: in a forked child there is no export thread to wait for.
    process: u32,
}

/// Names with their values.
type Attributes = Vec<(String, OwnedValue)>;

struct Running {
    config: Config,
    export_thread: Option<Arc<ExportThread>>,
    /// The attributes of the process, as they are sent.
    resource: Attributes,
    spool: Option<Spool>,
    meter: Option<Meter>,
    #[cfg(feature = "logs")]
    logs: Option<Arc<crate::logs::Logs>>,
    /// Exporters that the program brought along.
    plugged: usize,
    /// Whether our provider is the global one of OpenTelemetry.
    #[cfg(feature = "otel")]
    is_installed: bool,
    /// Whether metrics without an exporter could not be started; reported once.
    unreadable: bool,
    /// Signals that have been started, those that were switched off, and those that have no receiver any more.
    started: [bool; 3],
    off: [bool; 3],
    unreceived: [bool; 3],
}

/// What came of reading the configuration again.
///
/// ```no_run
/// # let telemetry = tracecast::init();
/// let reloaded = telemetry.reload()?;
/// for setting in &reloaded.needs_restart {
///     eprintln!("{setting} changes when the program starts again");
/// }
/// # Ok::<(), tracecast::ReloadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Settings that are different now.
    pub changed: Vec<&'static str>,
    /// Settings that are different in the file, and stay as they were until the program starts again.
    pub needs_restart: Vec<&'static str>,
    /// What was wrong, and was left out.
    pub problems: Vec<Problem>,
}

impl Guard {
    /// A guard over nothing.
    pub(super) fn off() -> Self {
        Guard { running: Mutex::new(None), process: std::process::id() }
    }

    pub(super) fn start(config: Config) -> Result<Self, InitError> {
        let process = std::process::id();
        let before = RUNNING_IN.swap(process, AcqRel);
        if before == process {
            return Err(InitError::AlreadyRunning);
        }
        // From here on a failure drops the guard, which ends what has begun.
        // Also if all is off: what comes from others is handed on then, too.
        start::propagate(&config);
        let guard = Guard { running: Mutex::new(Some(Running::new(config))), process };
        if let Some(running) = &mut *guard.lock() {
            running.start()?;
        }
        Ok(guard)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a forked child the export thread is the parent's.
    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    fn export_thread(&self) -> Option<Arc<ExportThread>> {
        let running = self.lock();
        running.as_ref().filter(|_| self.is_ours()).and_then(|running| running.export_thread.clone())
    }

    /// Brings out all that has ended by now, for up to `timeout`, and says how far it came.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = telemetry.flush(Duration::from_secs(1));
    /// assert_eq!(report.spans_pending, 0);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn flush(&self, timeout: Duration) -> Report {
        self.export_thread().map_or_else(Report::default, |export_thread| Report::of(&export_thread.flush(timeout)))
    }

    /// Switches telemetry off, brings out what is left, for up to `timeout`, and says what became of everything.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = telemetry.shutdown(Duration::from_secs(5));
    /// assert_eq!((report.spans_dropped, report.logs_dropped), (0, 0));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn shutdown(self, timeout: Duration) -> Report {
        self.end(timeout, false)
    }

    /// As `shutdown`, and sends spans that are open as unfinished.
    pub(crate) fn shutdown_unfinished(self, timeout: Duration) -> Report {
        self.end(timeout, true)
    }

    fn end(&self, timeout: Duration, unfinished: bool) -> Report {
        if !self.is_ours() {
            // Everything is the parent's, locks that some thread of it may have held too.
            return Report::default();
        }
        let Some(mut running) = self.lock().take() else { return Report::default() };
        let export_thread = running.export_thread.take();
        let unfinished = unfinished || running.config.unfinished_spans;
        let report = export_thread
            .map_or_else(Report::default, |export_thread| Report::of(&export_thread.shutdown(timeout, unfinished)));
        // Metrics were still on, so that the last of them could say what became of the rest.
        drop(running);
        // A forked child may run telemetry of its own by now.
        let _ = RUNNING_IN.compare_exchange(self.process, 0, AcqRel, Relaxed);
        report
    }

    /// Changes which roots are recorded. Traces that have begun go on as they began.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_sampler(&tracecast::Sampler::Ratio(0.01));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn set_sampler(&self, sampler: &Sampler) {
        if let Some(running) = self.lock().as_mut() {
            running.configure(|config| config.with_sampler(sampler.clone()));
            sampling::set(sampler);
        }
    }

    /// Changes which components make spans. Spans that are open finish as they began.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_filter("StoreDaemon=off".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_filter(&self, filter: Filter) {
        if let Some(running) = self.lock().as_mut() {
            running.configure(|config| config.with_filter(filter.clone()));
            switch::set_filter(filter);
        }
    }

    /// Switches metrics off or on again, by name, or by the start of their names with `*` behind it.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let error = telemetry.set_metric_enabled("tc_cache_*", false).unwrap_err();
    /// assert!(error.to_string().contains("tc_cache_*")); // metrics are off as a whole here
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    ///
    /// # Errors
    /// If there is none of that name, or metrics are off as a whole.
    pub fn set_metric_enabled(&self, name: &str, on: bool) -> Result<(), UnknownMetric> {
        let running = self.lock();
        let meter = running.as_ref().and_then(|running| running.meter.as_ref());
        meter.ok_or_else(|| UnknownMetric(name.to_owned()))?.metering.set_metric_enabled(name, on)
    }

    /// All metrics since the beginning, ours and raw ones of OpenTelemetry, in the text format of Prometheus: for those who
    /// must be scraped and have a server of their own. Answer with this text, as `text/plain; version=0.0.4`. Where metrics have
    /// no exporter the first call starts them, unless telemetry is switched off; then the text is empty. Call it once after
    /// `init` to count from the start. The metric `target_info` has the attributes of the process as labels.
    ///
    /// `OTEL_METRICS_EXPORTER=prometheus` serves the metrics without code.
    ///
    /// ```standalone_crate
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let body = telemetry.render_prometheus();
    /// assert!(body.contains("target_info"));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn render_prometheus(&self) -> String {
        // So that metrics about telemetry itself are those of now.
        let stalled = self.export_thread().map_or(Duration::ZERO, |export_thread| {
            export_thread.settle();
            export_thread.stalled()
        });
        let rendered = self.lock().as_mut().filter(|_| self.is_ours()).and_then(Running::scraped);
        let Some((scraped, resource)) = rendered else { return String::new() };
        self_metrics::stalled(stalled);
        scraped.render(Form::Prometheus, &resource)
    }

    /// How long the thread that exports has been stuck: in a redaction hook that does not return, for example. Zero while it
    /// gets on or has nothing to do. It does not ask that thread. The metric `tc_export_stalled_seconds` is the same.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let is_healthy = telemetry.export_stalled() < Duration::from_secs(30); // for a health endpoint
    /// assert!(is_healthy);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn export_stalled(&self) -> Duration {
        self.export_thread().map_or(Duration::ZERO, |export_thread| export_thread.stalled())
    }

    /// Changes which log events are written and exported.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_log_filter("info,hyper=warn".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "logs")]
    pub fn set_log_filter(&self, filter: crate::config::LogFilter) {
        if let Some(running) = self.lock().as_mut() {
            running.configure(|config| config.with_log_filter(filter.clone()));
            running.logs.iter().for_each(|logs| logs.set_filter(filter.clone()));
        }
    }

    /// Switches a whole signal off or on again. What was recorded before is still exported, and metrics go on from where
    /// they were.
    ///
    /// ```
    /// use tracecast::config::{Config, Exporter, Signal};
    ///
    /// let telemetry = Config::new().with_exporters(Signal::Traces, vec![Exporter::Console]).init()?;
    /// telemetry.set_enabled(Signal::Traces, false)?;
    /// assert!(!telemetry.is_on(Signal::Traces));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the signal has no exporter, so that there is nothing to switch.
    pub fn set_enabled(&self, signal: Signal, on: bool) -> Result<(), NoExporter> {
        let mut running = self.lock();
        let running = running.as_mut().filter(|running| running.started[signal as usize]).ok_or(NoExporter(signal))?;
        running.off[signal as usize] = !on;
        running.apply_pause(signal);
        running.export_thread.iter().for_each(|export_thread| export_thread.settle());
        Ok(())
    }

    /// Whether a signal is on.
    ///
    /// ```
    /// use tracecast::config::{Config, Exporter, Signal};
    ///
    /// let telemetry = Config::new().with_exporters(Signal::Traces, vec![Exporter::Console]).init()?;
    /// assert!(telemetry.is_on(Signal::Traces));
    /// assert!(!telemetry.is_on(Signal::Metrics));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn is_on(&self, signal: Signal) -> bool {
        let running = self.lock();
        let on = |running: &Running| running.started[signal as usize] && !running.is_paused(signal);
        running.as_ref().is_some_and(on)
    }

    /// Reads the file or the variables again that the configuration came from, and puts into force what can be changed
    /// while the program runs: exporters and their addresses, the sampler, filters, limits, batches, the interval of
    /// metrics, log levels. What code said stays. If anything is wrong with the file, nothing changes.
    ///
    /// ```no_run
    /// use tracecast::config::Config;
    ///
    /// let telemetry = Config::from_file("telemetry.yaml")?.init()?;
    /// // .. the file is changed ..
    /// let reloaded = telemetry.reload()?;
    /// println!("changed: {:?}", reloaded.changed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is nothing to read again, the file is wrong, or a receiver cannot be spoken to as it is described.
    pub fn reload(&self) -> Result<Reloaded, ReloadError> {
        let mut running = self.lock();
        let ours = running.as_mut().filter(|_| self.is_ours());
        let running = ours.ok_or(ReloadError::NotRunning)?;
        let fresh = match &running.config.source {
            Source::Code => return Err(ReloadError::NothingToRead),
            Source::Variables => Config::from_env(),
            Source::File(path) => Config::from_file(path).map_err(ReloadError::Config)?,
        };
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        if fresh.problems().iter().any(is_error) {
            return Err(ReloadError::Config(ConfigError { problems: fresh.problems().to_vec() }));
        }
        let next = running.config.read_again(fresh);
        tell_problems(&next).map_err(ReloadError::Init)?;
        running.reload(next).map_err(ReloadError::Init)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end(AT_DROP, false);
    }
}

impl Running {
    fn new(config: Config) -> Self {
        Running {
            config,
            export_thread: None,
            resource: Vec::new(),
            spool: None,
            meter: None,
            #[cfg(feature = "logs")]
            logs: None,
            plugged: 0,
            #[cfg(feature = "otel")]
            is_installed: false,
            unreadable: false,
            started: [false; 3],
            off: [false; 3],
            unreceived: [false; 3],
        }
    }

    /// Notes what code changes while telemetry runs, so that it stays when the configuration is read again.
    fn configure(&mut self, change: impl FnOnce(Config) -> Config) {
        self.config = change(std::mem::take(&mut self.config));
    }

    /// Starts all signals that go anywhere.
    fn start(&mut self) -> Result<(), InitError> {
        let is_on = |signal: &Signal| self.config.is_on(*signal);
        self.spool = if Signal::ALL.iter().any(is_on) { start::open_spool(&self.config) } else { None };
        // Whatever can fail because of the configuration comes first.
        let receivers = Signal::ALL.map(|signal| start::receivers(&self.config, signal, self.spool.as_ref()));
        let receivers = receivers.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.plugged = if self.config.settings.enabled == Some(false) { 0 } else { self.config.plugged.len() };
        let mut any = self.start_logs();
        for (signal, mut receivers) in Signal::ALL.into_iter().zip(receivers) {
            if signal == Signal::Traces {
                receivers.extend(start::plugged(&self.config));
            }
            if !receivers.is_empty() {
                self.start_signal(signal, Some(receivers))?;
                any = true;
            }
        }
        if any {
            start::prepare(&self.config);
            notice::at(notice::INFO, format_args!("{}", start::described(&self.config, self.plugged)));
        }
        Ok(())
    }

    /// Starts to handle log events. Says whether there is anything to do with them.
    fn start_logs(&mut self) -> bool {
        #[cfg(feature = "logs")]
        {
            self.logs = start::logs(&self.config);
            self.logs.is_some()
        }
        #[cfg(not(feature = "logs"))]
        false
    }

    /// Starts a signal, or changes where it goes.
    fn start_signal(&mut self, signal: Signal, receivers: Option<Vec<Receiver>>) -> Result<(), InitError> {
        let new = !self.started[signal as usize];
        let change = match signal {
            Signal::Traces => {
                let change = start::traces(&self.config, new, receivers)?;
                #[cfg(feature = "otel")]
                if new && self.config.settings.interop != crate::config::Interop::Off {
                    crate::interop::otel::install(self.config.settings.interop, &self.config.settings.propagators);
                    self.is_installed = true;
                }
                change
            }
            Signal::Metrics => {
                // Who rendered them may have started them.
                if self.meter.is_none() {
                    self.meter = Some(Meter::start(&self.config)?);
                }
                start::metrics(&self.config, self.meter.as_ref().filter(|_| new), receivers)
            }
            #[cfg(feature = "logs")]
            Signal::Logs => {
                let crate::config::Batch { size, delay, .. } = self.config.settings.logs.batch;
                Change::Logs(crate::export::pipeline::Setup { feed: self.logs.clone(), receivers, size, delay })
            }
            #[cfg(not(feature = "logs"))]
            Signal::Logs => return Ok(()),
        };
        self.export_thread()?.change(change);
        self.started[signal as usize] = true;
        Ok(())
    }

    fn export_thread(&mut self) -> Result<&ExportThread, InitError> {
        if self.export_thread.is_none() {
            let plan = start::plan(&self.config);
            self.resource.clone_from(&plan.resource.attributes);
            let export_thread = Arc::new(ExportThread::start(plan).map_err(InitError::Thread)?);
            self.config.panic_hook.iter().for_each(|timeout| panic::watch(&export_thread, *timeout));
            self.export_thread = Some(export_thread);
        }
        self.export_thread.as_deref().ok_or(InitError::AlreadyRunning)
    }

    /// All metrics and the attributes of the process. Starts metrics that have no exporter.
    fn scraped(&mut self) -> Option<(Arc<Scraped>, Attributes)> {
        if self.meter.is_none() && self.config.settings.enabled != Some(false) && !self.unreadable {
            match Meter::start(&self.config) {
                Ok(meter) => self.meter = Some(meter),
                Err(error) => {
                    self.unreadable = true;
                    notice::say(format_args!("warning: metrics cannot be read: {error}"));
                }
            }
        }
        if self.resource.is_empty() {
            self.resource = start::plan(&self.config).resource.attributes;
        }
        self.meter.as_ref().map(|meter| (meter.scraped.clone(), self.resource.clone()))
    }

    fn is_paused(&self, signal: Signal) -> bool {
        self.off[signal as usize] || self.unreceived[signal as usize]
    }

    /// Stops making what nobody wants, or goes on with it.
    fn apply_pause(&self, signal: Signal) {
        let paused = self.is_paused(signal);
        match signal {
            Signal::Traces => {
                switch::pause_recording(paused);
                foreign::pause(paused);
            }
            Signal::Metrics => switch::pause_metering(paused),
            #[cfg(feature = "logs")]
            Signal::Logs => self.logs.iter().for_each(|logs| logs.pause(paused)),
            #[cfg(not(feature = "logs"))]
            Signal::Logs => {}
        }
        self.export_thread.iter().for_each(|export_thread| export_thread.change(Change::Pause(signal, paused)));
    }

    fn reload(&mut self, fresh: Config) -> Result<Reloaded, InitError> {
        let (changed, needs_restart) = self.config.differences(&fresh);
        let problems = fresh.problems().to_vec();
        if self.spool.is_none() && self.export_thread.is_none() {
            self.spool = start::open_spool(&fresh);
        }
        // What can fail comes first.
        let mut receivers = Vec::new();
        for signal in Signal::ALL {
            let differs = start::receiver_settings(&fresh, signal) != start::receiver_settings(&self.config, signal);
            receivers.push(if differs { Some(start::receivers(&fresh, signal, self.spool.as_ref())?) } else { None });
        }
        let before = std::mem::replace(&mut self.config, fresh);
        for (signal, receivers) in Signal::ALL.into_iter().zip(receivers) {
            if let Err(error) = self.reload_signal(signal, receivers) {
                self.config = before;
                return Err(error);
            }
        }
        sampling::set(&self.config.settings.traces.sampler);
        limits::set(self.config.settings.traces.limits);
        switch::set_filter(self.config.settings.filter.clone().into_inner());
        #[cfg(feature = "logs")]
        self.logs.iter().for_each(|logs| logs.set_filter(self.config.settings.log_filter.clone().into_inner()));
        self.export_thread.iter().for_each(|export_thread| export_thread.settle());
        notice::at(
            notice::INFO,
            format_args!("configuration read again: {}", start::described(&self.config, self.plugged)),
        );
        Ok(Reloaded { changed, needs_restart, problems })
    }

    /// Puts into force what the configuration says of a signal; its receivers, if they are others than before.
    fn reload_signal(&mut self, signal: Signal, receivers: Option<Vec<Receiver>>) -> Result<(), InitError> {
        let is_new = !self.started[signal as usize];
        let Some(receivers) = receivers else {
            return if is_new { Ok(()) } else { self.start_signal(signal, None) };
        };
        let none = receivers.is_empty() && (signal != Signal::Traces || self.plugged == 0);
        if none && is_new {
            return Ok(());
        }
        if is_new && signal == Signal::Logs {
            self.start_logs();
        }
        if !none {
            self.start_signal(signal, Some(receivers))?;
        }
        self.unreceived[signal as usize] = none;
        self.apply_pause(signal);
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(feature = "logs")]
        self.logs.iter().for_each(|logs| logs.end());
        #[cfg(feature = "otel")]
        if self.is_installed {
            crate::interop::otel::uninstall();
        }
        if self.started[Signal::Traces as usize] {
            foreign::stop();
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on: Vec<_> = Signal::ALL.into_iter().filter(|signal| self.is_ours() && self.is_on(*signal)).collect();
        f.debug_struct("Guard").field("on", &on).finish_non_exhaustive()
    }
}
