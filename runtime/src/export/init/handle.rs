//! The handle: changes, reads and flushes telemetry while the program runs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{NotRunning, ReloadError, SetEnabledError};
use super::health::Health;
use super::report::Report;
use super::report_problems;
use super::running::{Reloaded, Running};
use crate::config::{Config, ConfigError, Problem, Severity, Signal, Source};
use crate::declare::filter::Filter;
use crate::declare::switch;
use crate::export::pipeline::ExportThread;
use crate::export::{scrape, self_metrics};
use crate::meter::exposition::Form;
use crate::record::sampling::{self, Sampler};

/// Changes, reads and flushes telemetry. A handle can be cloned and used by any thread: by a `/metrics` route, a health
/// endpoint or an admin API.
///
/// A handle does not keep telemetry running. Once the [`Guard`](crate::Guard), or the
/// [`Shutdown`](crate::shutdown::Shutdown) that took the guard, has ended telemetry, methods that return an error
/// return [`NotRunning`]; the other methods document what they return then.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::Config;
/// use tracecast::{NotRunning, Sampler};
///
/// let telemetry = Config::new().init()?;
/// let handle = telemetry.handle();
/// handle.set_sampler(&Sampler::Ratio(0.1))?;
/// telemetry.shutdown(Duration::from_secs(5));
/// assert_eq!(handle.set_sampler(&Sampler::AlwaysOn), Err(NotRunning::Ended));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

struct Shared {
    running: Mutex<Result<Running, NotRunning>>,
    /// The process in which telemetry runs. A forked child has no export thread and must not wait for the parent's
    /// locks.
    process: u32,
    health: Health,
}

impl Handle {
    pub(super) fn new(process: u32, running: Result<Running, NotRunning>) -> Self {
        Handle(Arc::new(Shared { running: Mutex::new(running), process, health: Health::default() }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Result<Running, NotRunning>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the running telemetry, which ends it for all handles. Fails with the reason if telemetry does not run.
    pub(super) fn take(&self) -> Result<Running, NotRunning> {
        self.check_process()?;
        let mut running = self.lock();
        let ended = running.as_ref().err().copied().unwrap_or(NotRunning::Ended);
        std::mem::replace(&mut *running, Err(ended))
    }

    fn check_process(&self) -> Result<(), NotRunning> {
        if self.0.process == std::process::id() { Ok(()) } else { Err(NotRunning::Forked) }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Running) -> R) -> Result<R, NotRunning> {
        self.check_process()?;
        self.lock().as_mut().map(f).map_err(|reason| *reason)
    }

    /// Returns the export thread; `None` if nothing is exported.
    fn export_thread(&self) -> Result<Option<Arc<ExportThread>>, NotRunning> {
        self.with(|running| running.export_thread.clone())
    }

    /// Exports the spans that have ended, the log records and the present values of metrics, for up to `timeout`, and
    /// returns the report so far. The report is empty if nothing is exported. Once telemetry has ended, the report is
    /// empty and has the reason ([`Report::not_running`]).
    ///
    /// Blocks: in async code call it in `spawn_blocking`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let report = telemetry.flush(Duration::from_secs(1));
    /// assert_eq!(report.spans_pending, 0);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn flush(&self, timeout: Duration) -> Report {
        match self.export_thread() {
            Ok(Some(export_thread)) => Report::of(&export_thread.flush(timeout)),
            Ok(None) => Report::default(),
            Err(reason) => Report::empty(reason),
        }
    }

    /// Changes the sampler, which decides for root spans. Traces that have begun keep their decision.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_sampler(&tracecast::Sampler::Ratio(0.01))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If telemetry does not run.
    pub fn set_sampler(&self, sampler: &Sampler) -> Result<(), NotRunning> {
        self.with(|running| {
            running.configure(|config| config.with_sampler(sampler.clone()));
            sampling::set(sampler);
        })
    }

    /// Changes which components record spans. Open spans are not affected.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_filter("StoreDaemon=off".parse()?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If telemetry does not run.
    pub fn set_filter(&self, filter: Filter) -> Result<(), NotRunning> {
        self.with(|running| {
            running.configure(|config| config.with_filter(filter.clone()));
            switch::set_filter(filter);
        })
    }

    /// Turns metrics on or off, by name or by a prefix with `*` (`tc_cache_*`).
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let error = telemetry.set_metric_enabled("tc_cache_*", false).unwrap_err();
    /// assert!(error.to_string().contains("metrics have no exporter"));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    ///
    /// # Errors
    /// If no metric has this name, metrics have no exporter, or telemetry does not run.
    pub fn set_metric_enabled(&self, name: &str, on: bool) -> Result<(), SetEnabledError> {
        self.with(|running| {
            let meter = running.meter.as_ref().ok_or(SetEnabledError::NoExporter(Signal::Metrics))?;
            meter.metering.set_metric_enabled(name, on).map_err(SetEnabledError::UnknownMetric)
        })?
    }

    /// Returns the content type and the body of the response to a scrape, for programs with their own server. The body
    /// has all metrics since the start, declared ones and those of raw OpenTelemetry instruments. `accept` is the
    /// `Accept` header of the request; join several with commas. The header selects OpenMetrics, which Prometheus
    /// requests and which has units and exemplars, or otherwise the text format 0.0.4. The metric `target_info` has the
    /// resource attributes as labels. `OTEL_METRICS_EXPORTER=prometheus` serves the metrics without code.
    ///
    /// If metrics have no exporter, the first call starts them: call it once after `init` to count from the start. If
    /// telemetry is turned off or has ended, or metrics cannot start, the text is a comment with the reason.
    ///
    /// Blocks for up to a few seconds if callbacks of gauges hang: in async code call it in `spawn_blocking`.
    ///
    /// ```standalone_crate
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let (content_type, body) = telemetry.render_metrics(Some("application/openmetrics-text"));
    /// assert!(content_type.starts_with("application/openmetrics-text; version=1.0.0"));
    /// assert!(body.contains("target_info") && body.ends_with("# EOF\n"));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn render_metrics(&self, accept: Option<&str>) -> (&'static str, String) {
        let form = accept.map_or(Form::Prometheus, scrape::preferred);
        // Updates the metrics about telemetry itself.
        let stalled = self.export_thread().ok().flatten().map_or(Duration::ZERO, |export_thread| {
            export_thread.settle();
            export_thread.stalled()
        });
        let scraped = self.with(|running| running.scraped().ok_or(SetEnabledError::NoExporter(Signal::Metrics)));
        match scraped.unwrap_or_else(|reason| Err(reason.into())) {
            Ok((scraped, resource)) => {
                self_metrics::stalled(stalled);
                (scrape::media_type(form), scraped.render(form, &resource))
            }
            // OpenMetrics has no comments.
            Err(reason) => (scrape::media_type(Form::Prometheus), format!("# {reason}\n")),
        }
    }

    /// Returns the body of [`render_metrics`](Handle::render_metrics) without an `Accept` header: the text format 0.0.4.
    ///
    /// ```standalone_crate
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let text = telemetry.render_prometheus();
    /// assert!(text.contains("target_info"));
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn render_prometheus(&self) -> String {
        self.render_metrics(None).1
    }

    /// Returns how long the export thread has been stuck, for example in a redaction hook that does not return. Zero while the
    /// thread makes progress or is idle, and once telemetry has ended. Never waits for that thread. The metric
    /// `tc_export_stalled_seconds` has the same value.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let is_healthy = telemetry.export_stalled() < Duration::from_secs(30); // for a health endpoint
    /// assert!(is_healthy);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn export_stalled(&self) -> Duration {
        self.export_thread().ok().flatten().map_or(Duration::ZERO, |export_thread| export_thread.stalled())
    }

    /// Changes the levels from which log events are written and exported, by target.
    ///
    /// ```
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// telemetry.set_log_filter("info,hyper=warn".parse()?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If telemetry does not run.
    #[cfg(has_logs)]
    pub fn set_log_filter(&self, filter: crate::config::LogFilter) -> Result<(), NotRunning> {
        self.with(|running| {
            running.configure(|config| config.with_log_filter(filter.clone()));
            running.logs.iter().for_each(|logs| logs.set_filter(filter.clone()));
        })
    }

    /// Turns a signal off or on again. Items that were recorded before are still exported, and metrics keep their
    /// values.
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
    /// If the signal has no exporter, or telemetry does not run.
    pub fn set_enabled(&self, signal: Signal, on: bool) -> Result<(), SetEnabledError> {
        self.with(|running| {
            if !running.started[signal as usize] {
                return Err(SetEnabledError::NoExporter(signal));
            }
            running.off[signal as usize] = !on;
            running.apply_pause(signal);
            running.export_thread.iter().for_each(|export_thread| export_thread.settle());
            Ok(())
        })?
    }

    /// True if a signal is on. False for all signals once telemetry has ended.
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
        self.with(|running| running.started[signal as usize] && !running.is_paused(signal)).unwrap_or(false)
    }

    /// Reads the configuration's file or variables again and applies the settings that can change at run time:
    /// exporters and their addresses, sampler, filters, limits, batches, metric interval, log levels. Settings made by
    /// code keep precedence. If the file is invalid, nothing changes.
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
    /// If there is nothing to read, the file is invalid, the settings of a receiver cannot be used, or telemetry does
    /// not run.
    pub fn reload(&self) -> Result<Reloaded, ReloadError> {
        self.with(|running| {
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
            report_problems(&next).map_err(ReloadError::Init)?;
            running.reload(next).map_err(ReloadError::Init)
        })
        .map_err(ReloadError::NotRunning)?
    }

    /// Returns the state of the process for a health endpoint. A [`Shutdown`](crate::shutdown::Shutdown) changes it
    /// when it begins; the end of telemetry alone does not.
    ///
    /// ```
    /// use tracecast::shutdown::{Shutdown, State};
    ///
    /// # let telemetry = tracecast::config::Config::new().init()?;
    /// let health = telemetry.health(); // for the health endpoint
    /// assert_eq!(health.state(), State::Running);
    /// let _report = Shutdown::new(telemetry).run();
    /// assert_eq!(health.state(), State::ShuttingDown);
    /// # Ok::<(), tracecast::InitError>(())
    /// ```
    pub fn health(&self) -> Health {
        self.0.health.clone()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on: Vec<_> = Signal::ALL.into_iter().filter(|signal| self.is_on(*signal)).collect();
        f.debug_struct("Handle").field("on", &on).finish_non_exhaustive()
    }
}
