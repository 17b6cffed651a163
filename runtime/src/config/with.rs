//! What code says. It has the last word.

use std::sync::Arc;
use std::time::Duration;

use super::level::LogFilter;
use super::origin::Origin;
use super::otlp::{Address, Compression, OtlpSettings, Protocol, Signal, TlsFiles};
use super::parts::{ConsoleFormat, Exporter, Interop, LogLines, Spool};
use super::{Config, Endpoint};
use crate::base::secret::{Masked, Secret};
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;
use crate::propagate::format::Propagator;
use crate::record::limits::Limits;
use crate::record::sampling::Sampler;

impl Config {
    /// Switches everything on or off. On, each signal that has no exporter gets the default one.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// assert!(Config::new().with_enabled(true).is_on(Signal::Metrics));
    /// ```
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.enabled = Some(enabled);
        self.said("enabled")
    }

    /// Shows every signal on the console too.
    ///
    /// ```
    /// # use tracecast::config::{Config, Destination, Signal};
    /// let config = Config::new().with_debug(true);
    /// assert_eq!(config.destinations(Signal::Logs), [Destination::Console]);
    /// ```
    #[must_use]
    pub fn with_debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self.said("debug")
    }

    /// Makes a problem fail the start.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert!(Config::new().with_strict(true).strict);
    /// ```
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self.said("strict")
    }

    /// Names the service.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_service_name("store").service_name(), Some("store"));
    /// ```
    #[must_use]
    pub fn with_service_name(self, name: impl Into<String>) -> Self {
        self.with_resource_attribute("service.name", name.into()).said("service_name")
    }

    /// Says what this process is among those of the product: `daemon`, `global_store`, `client`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_role("global_store").role(), Some("global_store"));
    /// ```
    #[must_use]
    pub fn with_role(self, role: impl Into<String>) -> Self {
        self.with_resource_attribute("tc.role", role.into()).said("role")
    }

    /// Adds an attribute of the resource.
    ///
    /// ```
    /// # use tracecast::config::{AttributeValue, Config};
    /// let config = Config::new().with_resource_attribute("tc.shard", 7);
    /// assert_eq!(config.resource.get("tc.shard"), Some(&AttributeValue::from(7)));
    /// ```
    #[must_use]
    pub fn with_resource_attribute(mut self, name: &str, value: impl Into<OwnedValue>) -> Self {
        self.resource.set(name, Masked::from(value.into()));
        self.said("resource")
    }

    /// Sends all signals to one receiver, instead of those that were named for single signals. Over HTTP each adds its
    /// own path.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_endpoint("http://collector:4318".parse()?);
    /// assert!(Signal::ALL.into_iter().all(|signal| config.is_on(signal)));
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
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
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_endpoint_of(Signal::Metrics, "http://metrics:4318/v1/metrics".parse()?);
    /// assert!(config.is_on(Signal::Metrics) && !config.is_on(Signal::Traces));
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
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
    ///
    /// ```
    /// # use tracecast::config::{Config, Protocol};
    /// assert_eq!(Config::new().with_protocol(Protocol::Grpc).otlp.protocol, Some(Protocol::Grpc));
    /// ```
    #[must_use]
    pub fn with_protocol(self, protocol: Protocol) -> Self {
        self.change("otlp.protocol", move |config| config.everywhere(|otlp| otlp.protocol = Some(protocol)))
    }

    /// Adds a header to each request of all signals. Its value is never shown.
    ///
    /// ```
    /// # use tracecast::config::{Config, Secret};
    /// let config = Config::new().with_header("authorization", Secret::new("Bearer hunter2"));
    /// assert!(!format!("{config:?}").contains("hunter2"));
    /// ```
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
    ///
    /// ```
    /// # use tracecast::config::{Config, TlsFiles};
    /// let config = Config::new().with_tls(TlsFiles::default().with_ca("/etc/store/ca.pem"));
    /// assert!(config.otlp.tls.ca.is_some());
    /// ```
    #[must_use]
    pub fn with_tls(self, tls: TlsFiles) -> Self {
        self.change("otlp.tls", move |config| config.everywhere(|otlp| otlp.tls = tls.clone()))
    }

    /// Chooses the compression of all signals.
    ///
    /// ```
    /// # use tracecast::config::{Compression, Config};
    /// let config = Config::new().with_compression(Compression::Gzip);
    /// assert_eq!(config.otlp.compression, Some(Compression::Gzip));
    /// ```
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        self.change("otlp.compression", move |config| config.everywhere(|otlp| otlp.compression = Some(compression)))
    }

    /// Limits the time that one request of any signal may take.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_timeout(Duration::from_secs(3));
    /// assert_eq!(config.otlp.timeout, Some(Duration::from_secs(3)));
    /// ```
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.change("otlp.timeout", move |config| config.everywhere(|otlp| otlp.timeout = Some(timeout)))
    }

    /// Chooses the exporters of one signal; none means off.
    ///
    /// ```
    /// # use tracecast::config::{Config, Exporter, Signal};
    /// let config = Config::from_env()
    ///     .with_exporters(Signal::Traces, vec![Exporter::Console])
    ///     .with_exporters(Signal::Logs, vec![]);
    /// assert!(!config.is_on(Signal::Logs));
    /// ```
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
    ///
    /// ```
    /// # use tracecast::{Sampler, config::Config};
    /// let config = Config::new().with_sampler(Sampler::Ratio(0.1));
    /// assert!(matches!(config.traces.sampler, Sampler::Ratio(0.1)));
    /// ```
    #[must_use]
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.traces.sampler = sampler;
        self.said("traces.sampler")
    }

    /// Limits what one span may hold.
    ///
    /// ```
    /// # use tracecast::{Limits, config::Config};
    /// let limits = Limits { attributes: 32, ..Limits::default() };
    /// assert_eq!(Config::new().with_limits(limits).traces.limits.attributes, 32);
    /// ```
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.traces.limits = limits;
        self.said("traces.limits")
    }

    /// Chooses the time between two exports of metrics.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_metric_interval(Duration::from_secs(15));
    /// assert_eq!(config.metrics.interval, Duration::from_secs(15));
    /// ```
    #[must_use]
    pub fn with_metric_interval(mut self, interval: Duration) -> Self {
        self.metrics.interval = interval;
        self.said("metrics.interval")
    }

    /// Chooses how far the OpenTelemetry API and ours know of each other. Without the feature `otel` they do not.
    ///
    /// ```
    /// # use tracecast::config::{Config, Interop};
    /// assert_eq!(Config::new().with_interop(Interop::Off).interop, Interop::Off);
    /// ```
    #[must_use]
    pub fn with_interop(mut self, interop: Interop) -> Self {
        self.interop = interop;
        self.said("interop")
    }

    /// Chooses the formats in which context travels.
    ///
    /// ```
    /// # use tracecast::config::{Config, Propagator};
    /// let config = Config::new().with_propagators(vec![Propagator::B3Multi]);
    /// assert_eq!(config.propagators, [Propagator::B3Multi]);
    /// ```
    #[must_use]
    pub fn with_propagators(mut self, propagators: Vec<Propagator>) -> Self {
        self.propagators = propagators;
        self.said("propagators")
    }

    /// Chooses which components make spans.
    ///
    /// ```
    /// # use tracecast::config::{Config, Origin};
    /// let config = Config::new().with_filter("StoreDaemon=off".parse()?);
    /// assert_eq!(config.origin("filter"), &Origin::Code);
    /// # Ok::<(), tracecast::FilterError>(())
    /// ```
    #[must_use]
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter.into();
        self.said("filter")
    }

    /// Chooses which log events are written.
    ///
    /// ```
    /// # use tracecast::config::{Config, Level};
    /// let config = Config::new().with_log_filter("info,hyper=warn".parse()?);
    /// assert_eq!(config.log_filter.level_of("hyper"), Level::Warn);
    /// # Ok::<(), tracecast::config::LogFilterError>(())
    /// ```
    #[must_use]
    pub fn with_log_filter(mut self, filter: LogFilter) -> Self {
        self.log_filter = filter.into();
        self.said("log_filter")
    }

    /// Chooses how log events are written as lines to standard error.
    ///
    /// ```
    /// # use tracecast::config::{Config, LogLines};
    /// assert_eq!(Config::new().with_log_lines(LogLines::Text).logs.lines, Some(LogLines::Text));
    /// ```
    #[must_use]
    pub fn with_log_lines(mut self, lines: LogLines) -> Self {
        self.logs.lines = Some(lines);
        self.said("logs.lines")
    }

    /// Chooses how the console shows telemetry.
    ///
    /// ```
    /// # use tracecast::config::{Config, ConsoleFormat};
    /// assert_eq!(Config::new().with_console(ConsoleFormat::Json).console, ConsoleFormat::Json);
    /// ```
    #[must_use]
    pub fn with_console(mut self, format: ConsoleFormat) -> Self {
        self.console = format;
        self.said("console")
    }

    /// Installs a panic hook that brings out pending telemetry when a panic ends the process, within a second.
    ///
    /// It runs before the hook that the program has at `init`. Under `panic = "abort"` it ends the spans that are entered on
    /// the thread that panics, as `panicked`, sends what is pending, and puts on disk what cannot be sent, if there is a
    /// spool. Otherwise it acts on the main thread only, and not on panics of tasks, which tokio catches: it sends what is
    /// pending, and at the exit of the process (on Unix) the spans that ended while they were unwound. Other threads do not
    /// end the process when they panic. `std::process::exit` and `abort` run no hook: call `Guard::flush` before them.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_panic_hook();
    /// ```
    #[cfg(all(not(target_family = "wasm"), not(loom)))]
    #[must_use]
    pub fn with_panic_hook(self) -> Self {
        self.with_panic_hook_within(Duration::from_secs(1))
    }

    /// Exports spans that are still open when [`Guard::shutdown`](crate::Guard::shutdown) ends telemetry, with
    /// `tc.outcome=unfinished`, their ids, name and start, and the time until then. Their attributes are not exported. A
    /// [`Shutdown`](crate::shutdown::Shutdown) does so without being told.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_env().with_unfinished_spans();
    /// # drop(config);
    /// ```
    #[must_use]
    pub fn with_unfinished_spans(mut self) -> Self {
        self.unfinished_spans = true;
        self.said("unfinished_spans")
    }

    /// As [`Config::with_panic_hook`], and sets how long it may take.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_panic_hook_within(Duration::from_secs(3));
    /// ```
    #[cfg(all(not(target_family = "wasm"), not(loom)))]
    #[must_use]
    pub fn with_panic_hook_within(mut self, timeout: Duration) -> Self {
        self.panic_hook = Some(timeout);
        self.said("panic_hook")
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
        self.redact = Some(crate::config::redact::Redact::new(hook));
        self.said("redaction")
    }

    /// Has spans and log records that cannot be sent wait on disk, also for the next start of the program.
    ///
    /// ```
    /// # use tracecast::config::{Config, Spool};
    /// assert!(Config::new().with_spool(Spool::new("/var/lib/store/telemetry")).spool.is_some());
    /// ```
    #[must_use]
    pub fn with_spool(mut self, spool: Spool) -> Self {
        self.spool = Some(spool);
        self.said("spool")
    }

    /// Limits the bytes that all buffers may take together.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_memory_limit(16 << 20).memory_limit, 16 << 20);
    /// ```
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
