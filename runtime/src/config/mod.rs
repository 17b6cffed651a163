//! Configuration: which signals are exported, where, and within which limits.
//!
//! [`Config::from_env`] reads the `OTEL_*` variables, or instead of them the file that `OTEL_CONFIG_FILE` names, and
//! Tracecast's own variables. [`Config::from_file`] reads such a file. The `with_…` methods override both sources. By
//! default nothing is exported.
//!
//! ```
//! use tracecast::config::{Config, Signal};
//!
//! assert!(!Config::new().is_on(Signal::Traces));
//! let config = Config::new().with_service_name("store").with_endpoint("http://collector:4318".parse()?);
//! assert!(config.is_on(Signal::Traces));
//! # Ok::<(), tracecast::config::EndpointError>(())
//! ```

mod custom_exporters;
mod endpoint;
mod env;
mod file;
#[cfg(all(test, not(miri)))]
mod fuzz;
mod header;
mod layers;
mod level;
mod origin;
mod otlp;
mod parts;
mod problem;
mod proxy;
pub(crate) mod redact;
mod short;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod views;
mod with;
mod yaml;

use std::path::{Path, PathBuf};

pub use self::endpoint::{Endpoint, EndpointError};
pub use self::level::{Level, LogFilter, LogFilterError};
pub use self::origin::Origin;
pub use self::otlp::{Compression, OtlpSettings, Protocol, Signal, TlsFiles};
pub use self::parts::{
    Batch, ConsoleFormat, Exporter, HistogramAggregation, LogFormat, LogLimits, Spool, TemporalityPreference,
};
pub use self::problem::{ConfigError, Problem};
pub use self::short::{Telemetry, TelemetrySection};
pub use self::views::View;
pub use crate::base::secret::Secret;
pub use crate::meter::exemplar::Exemplars;
pub use crate::propagate::format::Propagator;
pub use crate::record::bridge::Interop;
pub use crate::record::limits::Limits;

pub(crate) use self::header::{HeaderCallback, HeaderSource};
pub(crate) use self::otlp::Otlp;
#[cfg(has_otel)]
pub(crate) use self::parts::CardinalityLimits;
pub(crate) use self::parts::{Destination, Metrics, ScrapeAddress};
pub(crate) use self::problem::Severity;
pub(crate) use self::views::{Aggregation, InstrumentType, ViewSelector, ViewStream};

use self::custom_exporters::CustomExporters;
use self::layers::Layer;
use self::origin::Origins;
use self::parts::{Logs, Resource, Traces, setting_of};
use self::proxy::Proxies;
use self::table::{PARTS, settings};
use crate::base::secret::Masked;
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;

/// All settings. `with_…` methods change them, [`get`](Config::get) reads them. A setting that no source sets has its
/// default; by default every signal is off.
///
/// ```
/// use tracecast::config::{Config, Protocol, Signal};
///
/// let config = Config::new()
///     .with_service_name("store")
///     .with_endpoint("http://collector:4317".parse()?)
///     .with_protocol(Protocol::Grpc);
/// assert!(config.is_on(Signal::Traces));
/// assert_eq!(config.get("otlp.protocol").as_deref(), Some("Grpc"));
/// # Ok::<(), tracecast::config::EndpointError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) settings: Settings,
    origins: Origins,
    /// The application's section and the `with_…` calls, applied over the settings of the source.
    layers: Vec<Layer>,
    problems: Vec<Problem>,
    /// True if the settings come from a file in OpenTelemetry's format. Such a file is complete: a key that it omits
    /// has the default of that format.
    declarative: bool,
    /// The source that a reload reads again.
    pub(crate) source: Source,
    /// The time limit of the panic hook; `None` if no hook is installed.
    pub(crate) panic_hook: Option<std::time::Duration>,
    pub(crate) unfinished_spans: bool,
    pub(crate) redact: Option<crate::config::redact::Redact>,
    pub(crate) custom_exporters: CustomExporters,
}

/// The settings of a [`Config`].
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Explicit on/off switch. `false` overrides all exporters; `true` gives signals without an exporter the default
    /// one.
    pub enabled: Option<bool>,
    /// Adds the console to the exporters of every signal that is not explicitly off.
    pub debug: bool,
    /// The format of the console exporter.
    pub console: ConsoleFormat,
    /// True if a configuration problem fails the start; otherwise it is a warning.
    pub strict: bool,
    /// Configured resource attributes, among them `service.name` and `tc.role`.
    pub resource: Resource,
    /// The connection of Tracecast to the OpenTelemetry API: its global provider and current context.
    pub interop: Interop,
    /// Whether our spans are also emitted as spans of `tracing`; `None` leaves that to `set_emitting`.
    pub tracing_emit: Option<bool>,
    /// The formats in which contexts are propagated.
    pub propagators: Vec<Propagator>,
    /// The most verbose level at which log events are recorded, by target.
    pub log_filter: Masked<LogFilter>,
    /// The most verbose level of Tracecast's own diagnostics that are printed.
    pub diagnostics_level: Level,
    /// Semantic conventions to use before they become the default, such as `http` or `database/dup`.
    pub semconv: Vec<Masked<String>>,
    /// The components that record spans.
    pub filter: Masked<Filter>,
    /// The spans that record the duration of their polls, by rules. If no rule names a span, the option `busy` of its
    /// function decides.
    pub busy_times: Masked<Filter>,
    /// Whether a watchdog reports polls that keep their thread for at least `stall_threshold`.
    pub stalls: bool,
    pub stall_threshold: std::time::Duration,
    /// The limit for all buffers together, in bytes.
    pub memory_limit: usize,
    /// The on-disk buffer for spans and log records that could not be sent; none by default.
    pub spool: Option<Spool>,
    /// OTLP settings for all signals; those of a signal take precedence.
    pub otlp: OtlpSettings,
    /// Proxies through which receivers are reached.
    pub proxies: Proxies,
    /// Traces.
    pub traces: Traces,
    /// Metrics.
    pub metrics: Metrics,
    /// Logs.
    pub logs: Logs,
}

/// The source of a configuration that a reload reads again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    /// None: the program builds the configuration.
    #[default]
    Code,
    /// The environment variables of the process.
    Variables,
    /// A file.
    File(PathBuf),
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            enabled: None,
            debug: false,
            console: ConsoleFormat::default(),
            strict: false,
            resource: Resource::default(),
            interop: Interop::default(),
            tracing_emit: None,
            propagators: vec![Propagator::TraceContext, Propagator::Baggage],
            log_filter: Masked::default(),
            diagnostics_level: Level::default(),
            semconv: Vec::new(),
            filter: Masked::default(),
            busy_times: Masked::default(),
            stalls: false,
            stall_threshold: std::time::Duration::from_millis(100),
            memory_limit: 64 << 20,
            spool: None,
            otlp: OtlpSettings::default(),
            proxies: Proxies::default(),
            traces: Traces::default(),
            metrics: Metrics::default(),
            logs: Logs::default(),
        }
    }
}

impl Config {
    /// Creates a configuration of defaults: every signal is off, and the environment is not read.
    ///
    /// ```
    /// use tracecast::config::{Config, Signal};
    ///
    /// assert!(Signal::ALL.into_iter().all(|signal| !Config::new().is_on(signal)));
    /// ```
    pub fn new() -> Self {
        Config::default()
    }

    /// Reads the process's environment: the file named by `OTEL_CONFIG_FILE`, or without one the `OTEL_*` variables; in
    /// both cases also Tracecast's own variables, such as `TC_ROLE`.
    ///
    /// Never fails. An invalid variable is ignored; an invalid file turns telemetry off. [`problems`](Config::problems)
    /// lists both.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_env().with_service_name("store");
    /// assert_eq!(config.service_name(), Some("store"));
    /// ```
    pub fn from_env() -> Self {
        Config { source: Source::Variables, ..Config::from_variables(variable) }
    }

    /// Reads variables from `lookup` instead of the process's environment.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_variables(|name| (name == "OTEL_SERVICE_NAME").then(|| "store".to_owned()));
    /// assert_eq!(config.service_name(), Some("store"));
    /// ```
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        sources::variables(&lookup)
    }

    /// Reads a file in OpenTelemetry's declarative configuration format. `${VAR}` in it is taken from the environment;
    /// of the other variables only those that name proxies (`HTTPS_PROXY` and so on) are read.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let error = Config::from_file("no-such-file.yaml").unwrap_err();
    /// assert!(error.to_string().contains("no-such-file.yaml"));
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read or is invalid. The error lists every problem.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let config = sources::file(path, &variable)?;
        Ok(Config { source: Source::File(path.to_owned()), ..config })
    }

    /// Reads a text in OpenTelemetry's declarative configuration format. `lookup` provides the variables instead of the
    /// process's environment.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_yaml("file_format: \"1.0\"\ndisabled: ${OFF:-true}", |_| None)?;
    /// assert_eq!(config.get("enabled").as_deref(), Some("false"));
    /// # Ok::<(), tracecast::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is invalid. The error lists every problem.
    pub fn from_yaml(text: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        sources::yaml(text, &lookup)
    }

    /// Returns the problems found in the settings, in the order in which they were found.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_variables(|name| (name == "OTEL_EXPORTER_OTLP_PROTOCOL").then(|| "soap".to_owned()));
    /// assert_eq!(config.problems()[0].what(), "OTEL_EXPORTER_OTLP_PROTOCOL");
    /// ```
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns a setting by its name (`traces.sampler`), or a part of one (`traces.batch.delay`), as text. The book
    /// lists the names. `None` if it has no value, or if no setting has this name. Secrets print as `[secret]`.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::new().with_role("daemon");
    /// assert_eq!(config.get("role").as_deref(), Some("daemon"));
    /// assert_eq!(config.get("traces.batch.delay").as_deref(), Some("5s"));
    /// assert_eq!(config.get("spool"), None);
    /// ```
    pub fn get(&self, setting: &str) -> Option<String> {
        let whole = settings().map(|setting| (setting.name, setting.show)).chain(PARTS);
        whole.into_iter().find(|(name, _)| *name == setting).and_then(|(_, show)| show(&self.settings))
    }

    /// Returns the origin of a setting, by its name, as in `traces.sampler`. An unknown name has the origin
    /// [`Origin::Default`].
    ///
    /// ```
    /// use tracecast::config::{Config, Origin};
    ///
    /// let config = Config::new().with_debug(true);
    /// assert_eq!(config.origin("debug"), &Origin::Code);
    /// assert_eq!(config.origin("traces.sampler"), &Origin::Default);
    /// ```
    pub fn origin(&self, setting: &str) -> &Origin {
        self.origins.of(setting)
    }

    /// Lists the settings that some source has set, and the origin of each.
    ///
    /// ```
    /// use tracecast::config::{Config, Origin};
    ///
    /// let config = Config::new().with_strict(true);
    /// assert_eq!(config.origins().collect::<Vec<_>>(), [("strict", &Origin::Code)]);
    /// ```
    pub fn origins(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.origins.iter()
    }

    /// Returns the configured `service.name`.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// assert_eq!(Config::new().service_name(), None);
    /// assert_eq!(Config::new().with_service_name("store").service_name(), Some("store"));
    /// ```
    pub fn service_name(&self) -> Option<&str> {
        self.resource_text("service.name")
    }

    /// Returns the role of this process within the product: `daemon`, `global_store`, `client`.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// assert_eq!(Config::new().with_role("daemon").role(), Some("daemon"));
    /// ```
    pub fn role(&self) -> Option<&str> {
        self.resource_text("tc.role")
    }

    /// Returns whether the signal has a destination.
    ///
    /// ```
    /// use tracecast::config::{Config, Signal};
    ///
    /// let config = Config::new().with_enabled(true).with_exporters(Signal::Logs, vec![]);
    /// assert!(config.is_on(Signal::Traces));
    /// assert!(!config.is_on(Signal::Logs));
    /// ```
    pub fn is_on(&self, signal: Signal) -> bool {
        !self.resolved(signal).is_empty()
    }

    /// Lists the destinations of a signal as text: addresses with their protocols, or the console. An empty list means
    /// that the signal is off.
    ///
    /// ```
    /// use tracecast::config::{Config, Signal};
    ///
    /// let config = Config::new().with_endpoint("http://collector:4318".parse()?).with_debug(true);
    /// let all = config.destinations(Signal::Traces);
    /// assert_eq!(all, ["http://collector:4318/v1/traces by http/protobuf", "the console"]);
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
    pub fn destinations(&self, signal: Signal) -> Vec<String> {
        self.resolved(signal).iter().map(Destination::to_string).collect()
    }

    /// Resolves the destinations of a signal: all defaults are filled in.
    pub(crate) fn resolved(&self, signal: Signal) -> Vec<Destination> {
        if self.settings.enabled == Some(false) {
            return Vec::new();
        }
        let (exporters, otlp) = match signal {
            Signal::Traces => (&self.settings.traces.exporters, &self.settings.traces.otlp),
            Signal::Metrics => (&self.settings.metrics.exporters, &self.settings.metrics.otlp),
            Signal::Logs => (&self.settings.logs.exporters, &self.settings.logs.otlp),
        };
        let otlp = otlp.clone().or(&self.settings.otlp);
        let resolved = |settings: &OtlpSettings| {
            Destination::Otlp(Box::new(settings.clone().or(&otlp).resolve(signal, &self.settings.proxies)))
        };
        let mut all: Vec<Destination> = match exporters {
            Some(exporters) => {
                let scraped = (signal == Signal::Metrics).then_some(&self.settings.metrics.prometheus);
                exporters.iter().filter_map(|exporter| destination(exporter, scraped, &resolved)).collect()
            }
            None if otlp.address.is_some() || self.settings.enabled == Some(true) => {
                vec![resolved(&OtlpSettings::default())]
            }
            None => Vec::new(),
        };
        // If the exporters of a signal are `none`, the console is not added either.
        let silenced = exporters.as_ref().is_some_and(Vec::is_empty);
        if self.settings.debug && !silenced && !all.contains(&Destination::Console) {
            all.push(Destination::Console);
        }
        all
    }

    /// Sets the origin of the resource attributes that are settings of their own.
    fn attributes_came_from(&mut self, origin: &Origin) {
        let named = self.settings.resource.attributes.iter().filter_map(|(name, _)| setting_of(name));
        named.for_each(|setting| self.origins.set(setting, origin.clone()));
    }

    fn resource_text(&self, name: &str) -> Option<&str> {
        match self.settings.resource.get(name) {
            Some(OwnedValue::Str(text)) => Some(text),
            _ => None,
        }
    }
}

/// Reads an environment variable of the process; invalid UTF-8 is replaced.
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn destination(
    exporter: &Exporter,
    scraped: Option<&ScrapeAddress>,
    resolved: &dyn Fn(&OtlpSettings) -> Destination,
) -> Option<Destination> {
    match exporter {
        Exporter::Otlp(settings) => Some(resolved(settings)),
        Exporter::Console => Some(Destination::Console),
        Exporter::Prometheus => scraped.cloned().map(Destination::Prometheus),
    }
}
