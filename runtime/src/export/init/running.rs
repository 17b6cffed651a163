//! Running telemetry, and the changes that a reload makes to it.

use std::sync::Arc;

use super::error::InitError;
use super::panic;
use super::start::{self, Meter};
use crate::base::notice;
use crate::config::{Config, Problem, Signal};
use crate::declare::switch;
use crate::declare::value::OwnedValue;
use crate::export::pipeline::{Change, ExportThread, Receiver};
use crate::export::scrape::Scraped;
use crate::export::spool::Spool;
use crate::export::stalls::Watchdog;
use crate::record::{limits, sampling};
use crate::trace::external;

/// The names and values of attributes.
pub(super) type Attributes = Vec<(String, OwnedValue)>;

/// Everything that runs between `init` and the shutdown.
pub(super) struct Running {
    pub(super) config: Config,
    pub(super) export_thread: Option<Arc<ExportThread>>,
    /// The resource attributes, as they are sent.
    resource: Attributes,
    spool: Option<Spool>,
    pub(super) meter: Option<Meter>,
    pub(super) watchdog: Option<Watchdog>,
    #[cfg(has_logs)]
    pub(super) logs: Option<Arc<crate::logs::Logs>>,
    /// The number of custom exporters.
    custom_exporters: usize,
    /// True if our provider is OpenTelemetry's global one.
    #[cfg(has_otel)]
    is_installed: bool,
    /// True if metrics without an exporter could not start. The failure was reported, and the start is not tried again.
    unreadable: bool,
    /// For each signal: `started` is true once it was started, `off` if the program has turned it off, and `unreceived`
    /// if a reload has removed its last receiver.
    pub(super) started: [bool; 3],
    pub(super) off: [bool; 3],
    unreceived: [bool; 3],
}

/// The result of a reload.
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
    /// Settings that have changed and are in force.
    pub changed: Vec<&'static str>,
    /// Settings that have changed in the source and take effect when the program restarts.
    pub needs_restart: Vec<&'static str>,
    /// Problems of the new configuration; the settings concerned were ignored.
    pub problems: Vec<Problem>,
}

impl Running {
    pub(super) fn new(config: Config) -> Self {
        Running {
            config,
            export_thread: None,
            resource: Vec::new(),
            spool: None,
            meter: None,
            watchdog: None,
            #[cfg(has_logs)]
            logs: None,
            custom_exporters: 0,
            #[cfg(has_otel)]
            is_installed: false,
            unreadable: false,
            started: [false; 3],
            off: [false; 3],
            unreceived: [false; 3],
        }
    }

    /// Adds a change by code to the configuration, so that reloads keep it.
    pub(super) fn configure(&mut self, change: impl FnOnce(Config) -> Config) {
        self.config = change(std::mem::take(&mut self.config));
    }

    /// Starts all signals that have a receiver, and log lines.
    pub(super) fn start(&mut self) -> Result<(), InitError> {
        let records = self.config.is_on(Signal::Traces) || self.config.is_on(Signal::Metrics);
        if let Some(compiled_out) = start::compiled_out().filter(|_| self.config.settings.strict && records) {
            return Err(InitError::CompiledOut(compiled_out));
        }
        let is_on = |signal: &Signal| self.config.is_on(*signal);
        self.spool = if Signal::ALL.iter().any(is_on) { start::open_spool(&self.config) } else { None };
        // Steps that can fail because of the configuration come first.
        let receivers = Signal::ALL.map(|signal| start::receivers(&self.config, signal, self.spool.as_ref()));
        let receivers = receivers.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.custom_exporters =
            if self.config.settings.enabled == Some(false) { 0 } else { self.config.custom_exporters.len() };
        let mut any = self.start_logs();
        for (signal, mut receivers) in Signal::ALL.into_iter().zip(receivers) {
            if signal == Signal::Traces {
                receivers.extend(start::custom_exporters(&self.config));
            }
            if !receivers.is_empty() {
                self.start_signal(signal, Some(receivers))?;
                any = true;
            }
        }
        self.apply_polls(None);
        if any {
            start::prepare(&self.config);
            start::announce("", &self.config, self.custom_exporters);
        }
        Ok(())
    }

    /// Applies the settings of polls: busy times, and the watchdog for stalls. `before` is the previous configuration
    /// at a reload; the watchdog keeps running if its settings are the same.
    fn apply_polls(&mut self, before: Option<&Config>) {
        let settings = &self.config.settings;
        switch::set_busy(settings.busy_times.clone().into_inner());
        let asked = |config: &Config| config.settings.stalls.then_some(config.settings.stall_threshold);
        let is_recorded = self.started[Signal::Traces as usize];
        let is_same = before.is_some_and(|before| asked(before) == asked(&self.config));
        if is_same && self.watchdog.is_some() == (settings.stalls && is_recorded) {
            return;
        }
        self.watchdog = None;
        let Some(threshold) = asked(&self.config) else { return };
        if !is_recorded {
            return notice::say(format_args!(
                "warning: stalls are not detected: spans have no exporter; set one, the sampler may drop all of them"
            ));
        }
        match Watchdog::start(threshold) {
            Ok(watchdog) => self.watchdog = Some(watchdog),
            Err(error) => {
                notice::say(format_args!("warning: stalls are not detected: no thread for the watchdog: {error}"))
            }
        }
    }

    /// Starts to handle log events. Returns whether they become lines or records.
    fn start_logs(&mut self) -> bool {
        #[cfg(has_logs)]
        {
            self.logs = start::logs(&self.config);
            self.logs.is_some()
        }
        #[cfg(not(has_logs))]
        false
    }

    /// Starts a signal, or applies its changed settings. `receivers` is `None` if they have not changed.
    fn start_signal(&mut self, signal: Signal, receivers: Option<Vec<Receiver>>) -> Result<(), InitError> {
        let new = !self.started[signal as usize];
        let change = match signal {
            Signal::Traces => {
                let change = start::traces(&self.config, new, receivers)?;
                #[cfg(has_tracing_emit)]
                if let (true, Some(on)) = (new, self.config.settings.tracing_emit) {
                    crate::interop::tracing_spans::set_emitting(on);
                }
                #[cfg(has_otel)]
                if new && self.config.settings.interop != crate::config::Interop::Off {
                    crate::interop::otel::install(self.config.settings.interop, &self.config.settings.propagators);
                    self.is_installed = true;
                }
                change
            }
            Signal::Metrics => {
                // `render_prometheus` may have started metrics.
                if self.meter.is_none() {
                    self.meter = Some(Meter::start(&self.config)?);
                }
                start::metrics(&self.config, self.meter.as_ref().filter(|_| new), receivers)
            }
            #[cfg(has_logs)]
            Signal::Logs => {
                let crate::config::Batch { size, delay, .. } = self.config.settings.logs.batch;
                Change::Logs(crate::export::pipeline::Setup { feed: self.logs.clone(), receivers, size, delay })
            }
            #[cfg(not(has_logs))]
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

    /// Returns all metrics and the resource attributes. Starts metrics that have no exporter, unless telemetry is
    /// turned off. Returns `None` if metrics are not running.
    pub(super) fn scraped(&mut self) -> Option<(Arc<Scraped>, Attributes)> {
        if self.meter.is_none() && self.config.settings.enabled != Some(false) && !self.unreadable {
            match Meter::start(&self.config) {
                Ok(meter) => self.meter = Some(meter),
                Err(error) => {
                    self.unreadable = true;
                    notice::say(format_args!("warning: metrics for scrapers did not start: {error}"));
                }
            }
        }
        if self.resource.is_empty() {
            self.resource = start::plan(&self.config).resource.attributes;
        }
        self.meter.as_ref().map(|meter| (meter.scraped.clone(), self.resource.clone()))
    }

    pub(super) fn is_paused(&self, signal: Signal) -> bool {
        self.off[signal as usize] || self.unreceived[signal as usize]
    }

    /// Pauses or resumes recording of a signal.
    pub(super) fn apply_pause(&self, signal: Signal) {
        let paused = self.is_paused(signal);
        match signal {
            Signal::Traces => {
                switch::pause_recording(paused);
                external::pause(paused);
            }
            Signal::Metrics => switch::pause_metering(paused),
            #[cfg(has_logs)]
            Signal::Logs => self.logs.iter().for_each(|logs| logs.pause(paused)),
            #[cfg(not(has_logs))]
            Signal::Logs => {}
        }
        self.export_thread.iter().for_each(|export_thread| export_thread.change(Change::Pause(signal, paused)));
    }

    pub(super) fn reload(&mut self, fresh: Config) -> Result<Reloaded, InitError> {
        let (changed, needs_restart) = self.config.differences(&fresh);
        let problems = fresh.problems().to_vec();
        if self.spool.is_none() && self.export_thread.is_none() {
            self.spool = start::open_spool(&fresh);
        }
        // Steps that can fail come first.
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
        self.apply_polls(Some(&before));
        #[cfg(has_logs)]
        self.logs.iter().for_each(|logs| logs.set_filter(self.config.settings.log_filter.clone().into_inner()));
        self.export_thread.iter().for_each(|export_thread| export_thread.settle());
        start::announce("configuration reloaded: ", &self.config, self.custom_exporters);
        Ok(Reloaded { changed, needs_restart, problems })
    }

    /// Applies the configuration of a signal, and pauses it if no receiver is left. `receivers` is `None` if they have
    /// not changed.
    fn reload_signal(&mut self, signal: Signal, receivers: Option<Vec<Receiver>>) -> Result<(), InitError> {
        let is_new = !self.started[signal as usize];
        let Some(receivers) = receivers else {
            return if is_new { Ok(()) } else { self.start_signal(signal, None) };
        };
        let none = receivers.is_empty() && (signal != Signal::Traces || self.custom_exporters == 0);
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
        #[cfg(has_logs)]
        self.logs.iter().for_each(|logs| logs.end());
        #[cfg(has_otel)]
        if self.is_installed {
            crate::interop::otel::uninstall();
        }
        if self.started[Signal::Traces as usize] {
            external::stop();
        }
    }
}
