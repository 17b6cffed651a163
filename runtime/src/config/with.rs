//! What code says. It has the last word.

use std::sync::Arc;
use std::time::Duration;

use super::level::LogFilter;
use super::origin::Origin;
use super::otlp::{Address, Compression, OtlpSettings, Protocol, Signal, TlsFiles};
use super::parts::{ConsoleFormat, Exporter, Interop, LogLines, Propagator, Spool};
use super::{Config, Endpoint};
use crate::attribute::AttributeValue;
use crate::filter::Filter;
use crate::limits::Limits;
use crate::sampling::Sampler;
use crate::secret::{Masked, Secret};

impl Config {
    /// Switches everything on or off. On, each signal that has no exporter gets the default one.
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.enabled = Some(enabled);
        self.said("enabled")
    }

    /// Shows every signal on the console too.
    #[must_use]
    pub fn with_debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self.said("debug")
    }

    /// Makes a problem fail the start.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self.said("strict")
    }

    /// Names the service.
    #[must_use]
    pub fn with_service_name(self, name: impl Into<String>) -> Self {
        self.with_resource_attribute("service.name", name.into()).said("service_name")
    }

    /// Says what this process is among those of the product: `daemon`, `global_store`, `client`.
    #[must_use]
    pub fn with_role(self, role: impl Into<String>) -> Self {
        self.with_resource_attribute("tc.role", role.into()).said("role")
    }

    /// Adds an attribute of the resource.
    #[must_use]
    pub fn with_resource_attribute(mut self, name: &str, value: impl Into<AttributeValue>) -> Self {
        self.resource.set(name, Masked::from(value.into()));
        self.said("resource")
    }

    /// Sends all signals to one receiver, instead of those that were named for single signals. Over HTTP each adds its
    /// own path.
    #[must_use]
    pub fn with_endpoint(self, endpoint: Endpoint) -> Self {
        self.change("otlp.endpoint", move |config| {
            for signal in Signal::ALL {
                config.otlp_of(signal).address = None;
            }
            config.each_otlp(|otlp| otlp.address = None);
            config.otlp.address = Some(Address::Base(endpoint.clone().into()));
        })
    }

    /// Sends one signal to a receiver of its own, at exactly this address.
    #[must_use]
    pub fn with_endpoint_of(self, signal: Signal, endpoint: Endpoint) -> Self {
        let setting = match signal {
            Signal::Traces => "traces.otlp.endpoint",
            Signal::Metrics => "metrics.otlp.endpoint",
            Signal::Logs => "logs.otlp.endpoint",
        };
        self.change(setting, move |config| {
            config.otlp_of(signal).address = Some(Address::Exact(endpoint.clone().into()));
        })
    }

    /// Chooses the protocol of all signals.
    #[must_use]
    pub fn with_protocol(self, protocol: Protocol) -> Self {
        self.change("otlp.protocol", move |config| config.everywhere(|otlp| otlp.protocol = Some(protocol)))
    }

    /// Adds a header to each request of all signals. Its value is never shown.
    #[must_use]
    pub fn with_header(self, name: &str, value: Secret) -> Self {
        let name = name.to_ascii_lowercase();
        self.change("otlp.headers", move |config| {
            // Signals and exporters without headers of their own take those of all signals.
            config.otlp.headers.get_or_insert_default();
            config.everywhere(|otlp| {
                if let Some(headers) = &mut otlp.headers {
                    headers.retain(|(given, _)| *given != name);
                    headers.push((name.clone(), value.clone()));
                }
            });
        })
    }

    /// Names the certificates of all signals.
    #[must_use]
    pub fn with_tls(self, tls: TlsFiles) -> Self {
        self.change("otlp.tls", move |config| config.everywhere(|otlp| otlp.tls = tls.clone()))
    }

    /// Chooses the compression of all signals.
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        self.change("otlp.compression", move |config| config.everywhere(|otlp| otlp.compression = Some(compression)))
    }

    /// Limits the time that one request of any signal may take.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.change("otlp.timeout", move |config| config.everywhere(|otlp| otlp.timeout = Some(timeout)))
    }

    /// Chooses the exporters of one signal; none means off.
    #[must_use]
    pub fn with_exporters(mut self, signal: Signal, exporters: Vec<Exporter>) -> Self {
        let setting = match signal {
            Signal::Traces => (&mut self.traces.exporters, "traces.exporters"),
            Signal::Metrics => (&mut self.metrics.exporters, "metrics.exporters"),
            Signal::Logs => (&mut self.logs.exporters, "logs.exporters"),
        };
        *setting.0 = Some(exporters);
        let name = setting.1;
        self.said(name)
    }

    /// Chooses which roots are recorded.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.traces.sampler = sampler;
        self.said("traces.sampler")
    }

    /// Limits what one span may hold.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.traces.limits = limits;
        self.said("traces.limits")
    }

    /// Chooses the time between two exports of metrics.
    #[must_use]
    pub fn with_metric_interval(mut self, interval: Duration) -> Self {
        self.metrics.interval = interval;
        self.said("metrics.interval")
    }

    /// Chooses how far the OpenTelemetry API and ours know of each other. Without the feature `otel` they do not.
    #[must_use]
    pub fn with_interop(mut self, interop: Interop) -> Self {
        self.interop = interop;
        self.said("interop")
    }

    /// Chooses the formats in which context travels.
    #[must_use]
    pub fn with_propagators(mut self, propagators: Vec<Propagator>) -> Self {
        self.propagators = propagators;
        self.said("propagators")
    }

    /// Chooses which components make spans.
    #[must_use]
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter.into();
        self.said("filter")
    }

    /// Chooses which log events are written.
    #[must_use]
    pub fn with_log_filter(mut self, filter: LogFilter) -> Self {
        self.log_filter = filter.into();
        self.said("log_filter")
    }

    /// Chooses how log events are written as lines to standard error.
    #[must_use]
    pub fn with_log_lines(mut self, lines: LogLines) -> Self {
        self.logs.lines = Some(lines);
        self.said("logs.lines")
    }

    /// Chooses how the console shows telemetry.
    #[must_use]
    pub fn with_console(mut self, format: ConsoleFormat) -> Self {
        self.console = format;
        self.said("console")
    }

    /// Has a function see every text before it leaves the process or is written to disk: values of attributes and labels,
    /// names of spans (under `name`), error messages, bodies of log records (under `message`). It is given the name under
    /// which the text stands, and the text, and gives what shall stand there instead, or `None` to leave it. Where it
    /// panics, the text is left out.
    ///
    /// It runs on the collector's thread, and for logs on the thread that logs.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_env()
    ///     .with_redaction(|name, text| (name == "tc.prompt" || text.contains('@')).then(|| "[removed]".to_owned()));
    /// ```
    #[cfg(all(not(target_family = "wasm"), not(loom)))]
    #[must_use]
    pub fn with_redaction(mut self, hook: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.redact = Some(crate::redact::Redact::new(hook));
        self.said("redaction")
    }

    /// Has spans and log records that cannot be sent wait on disk, also for the next start of the program.
    #[must_use]
    pub fn with_spool(mut self, spool: Spool) -> Self {
        self.spool = Some(spool);
        self.said("spool")
    }

    /// Limits the bytes that all buffers may take together.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self.said("memory_limit")
    }

    /// Makes a change that is made again to a file that is read again.
    fn change(mut self, setting: &'static str, change: impl Fn(&mut Config) + Send + Sync + 'static) -> Self {
        change(&mut self);
        self.code.0.push(Arc::new(change));
        self.said(setting)
    }

    fn said(mut self, setting: &'static str) -> Self {
        self.origins.set(setting, Origin::Code);
        self
    }

    pub(super) fn otlp_of(&mut self, signal: Signal) -> &mut OtlpSettings {
        match signal {
            Signal::Traces => &mut self.traces.otlp,
            Signal::Metrics => &mut self.metrics.otlp,
            Signal::Logs => &mut self.logs.otlp,
        }
    }

    /// Changes what was said about OTLP for all signals, for each signal and for each exporter.
    fn everywhere(&mut self, mut change: impl FnMut(&mut OtlpSettings)) {
        change(&mut self.otlp);
        for signal in Signal::ALL {
            change(self.otlp_of(signal));
        }
        self.each_otlp(change);
    }

    /// Changes what was said about OTLP for each exporter.
    fn each_otlp(&mut self, mut change: impl FnMut(&mut OtlpSettings)) {
        let all = [&mut self.traces.exporters, &mut self.metrics.exporters, &mut self.logs.exporters];
        for exporter in all.into_iter().flatten().flatten() {
            if let Exporter::Otlp(settings) = exporter {
                change(settings);
            }
        }
    }
}
