//! Methods that change settings from code. They override the source and the application's section.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::endpoint::Scheme;
use super::header::{HeaderCallback, HeaderSource};
use super::level::{Level, LogFilter};
use super::origin::Origin;
use super::otlp::{Address, Compression, OtlpSettings, Protocol, Signal, TlsFiles};
use super::parts::{
    Batch, CardinalityLimits, ConsoleFormat, Exporter, HistogramAggregation, LogFormat, LogLimits, ScrapeAddress,
    Spool, TemporalityPreference, setting_of,
};
use super::proxy::Proxies;
use super::table::settings;
use super::views::View;
use super::{Config, Endpoint, Settings};
use crate::base::secret::{Masked, Secret};
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;
use crate::meter::exemplar::Exemplars;
use crate::propagate::format::Propagator;
use crate::record::bridge::Interop;
use crate::record::limits::Limits;
use crate::record::sampling::Sampler;

impl Config {
    /// Turns all signals on or off. `true` gives each signal without an exporter the default one.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// assert!(Config::new().with_enabled(true).is_on(Signal::Metrics));
    /// ```
    #[must_use]
    pub fn with_enabled(self, enabled: bool) -> Self {
        self.set("enabled", move |config| config.settings.enabled = Some(enabled))
    }

    /// Adds the console to the exporters of every signal that is not explicitly off.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_debug(true);
    /// assert_eq!(config.destinations(Signal::Logs), ["the console"]);
    /// ```
    #[must_use]
    pub fn with_debug(self, debug: bool) -> Self {
        self.set("debug", move |config| config.settings.debug = debug)
    }

    /// Fails the start if the configuration has a problem, which otherwise is a warning.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_strict(true).get("strict").as_deref(), Some("true"));
    /// ```
    #[must_use]
    pub fn with_strict(self, strict: bool) -> Self {
        self.set("strict", move |config| config.settings.strict = strict)
    }

    /// Sets `service.name`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_service_name("store").service_name(), Some("store"));
    /// ```
    #[must_use]
    pub fn with_service_name(self, name: impl Into<String>) -> Self {
        self.with_resource_attribute("service.name", name.into())
    }

    /// Sets the role of this process within the product: `daemon`, `global_store`, `client`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_role("global_store").role(), Some("global_store"));
    /// ```
    #[must_use]
    pub fn with_role(self, role: impl Into<String>) -> Self {
        self.with_resource_attribute("tc.role", role.into())
    }

    /// Sets a resource attribute.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_resource_attribute("tc.shard", 7);
    /// assert_eq!(config.get("resource").as_deref(), Some(r#"{"tc.shard": I64(7)}"#));
    /// ```
    #[must_use]
    pub fn with_resource_attribute(self, name: &str, value: impl Into<OwnedValue>) -> Self {
        let (attribute, value) = (name.to_owned(), Masked::from(value.into()));
        let setting = setting_of(name).unwrap_or("resource");
        self.change(setting, move |config| config.settings.resource.set(&attribute, value.clone()))
    }

    /// Sets the schema URL of the resource attributes.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_schema_url("https://opentelemetry.io/schemas/1.37.0");
    /// assert!(config.get("resource.schema_url").is_some());
    /// ```
    #[must_use]
    pub fn with_schema_url(self, url: impl Into<String>) -> Self {
        let url = url.into();
        self.change("resource", move |config| config.settings.resource.schema_url = Some(url.clone().into()))
    }

    /// Sends all signals to one receiver. Replaces endpoints that were set for single signals and exporters. Over HTTP
    /// each signal appends its own path.
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
            config.settings.everywhere(|otlp| otlp.address = None);
            ENDPOINTS.into_iter().for_each(|setting| config.origins.set(setting, Origin::Default));
            config.settings.otlp.address = Some(Address::Base(endpoint.clone().into()));
        })
    }

    /// Sends one signal to exactly this address.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_signal_endpoint(Signal::Metrics, "http://metrics:4318/v1/metrics".parse()?);
    /// assert!(config.is_on(Signal::Metrics) && !config.is_on(Signal::Traces));
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
    #[must_use]
    pub fn with_signal_endpoint(self, signal: Signal, endpoint: Endpoint) -> Self {
        self.change(of(signal, ENDPOINTS), move |config| {
            config.settings.otlp_of(signal).address = Some(Address::Exact(endpoint.clone().into()));
        })
    }

    /// Sets the protocol of all signals.
    ///
    /// ```
    /// # use tracecast::config::{Config, Protocol};
    /// let config = Config::new().with_protocol(Protocol::Grpc);
    /// assert_eq!(config.get("otlp.protocol").as_deref(), Some("Grpc"));
    /// ```
    #[must_use]
    pub fn with_protocol(self, protocol: Protocol) -> Self {
        self.change("otlp.protocol", move |config| config.settings.everywhere(|otlp| otlp.protocol = Some(protocol)))
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
        self.with_header_source(name, value.into())
    }

    /// Adds a header to each request of all signals and takes its value from a file, without surrounding white space.
    /// The file is read again when it changes, so a token that is rotated, as Kubernetes does with projected tokens,
    /// needs no restart. If the new content cannot be used, the last valid one stays in use. An `authorization` value
    /// without a scheme is sent as `Bearer <content>`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_header_file("authorization", "/var/run/secrets/tokens/otel");
    /// assert_eq!(
    ///     config.get("otlp.headers").as_deref(),
    ///     Some(r#"[("authorization", from "/var/run/secrets/tokens/otel")]"#)
    /// );
    /// ```
    #[must_use]
    pub fn with_header_file(self, name: &str, path: impl Into<PathBuf>) -> Self {
        self.with_header_source(name, HeaderSource::File(path.into().into()))
    }

    /// Adds a header to each request of all signals and takes its value from a callback. The callback runs before each
    /// request, on a thread of its own, and may take as long as a request. If it returns `None` or panics, the last
    /// value stays in use; until it has returned a value nothing is sent.
    ///
    /// ```
    /// use tracecast::config::{Config, Secret};
    ///
    /// fn cached_token() -> Option<Secret> {
    ///     Some(Secret::new("Bearer hunter2"))
    /// }
    /// let config = Config::new().with_header_from("authorization", cached_token);
    /// assert!(!format!("{config:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn with_header_from(self, name: &str, value: impl Fn() -> Option<Secret> + Send + Sync + 'static) -> Self {
        let callback: HeaderCallback = Arc::new(value);
        self.with_header_source(name, HeaderSource::Callback(callback))
    }

    fn with_header_source(self, name: &str, source: HeaderSource) -> Self {
        let name = name.to_ascii_lowercase();
        self.change("otlp.headers", move |config| {
            // Signals and exporters without their own headers inherit the headers for all signals.
            config.settings.otlp.headers.get_or_insert_default();
            config.settings.everywhere(|otlp| otlp.set_header(&name, &source));
        })
    }

    /// Sends all requests through this proxy, or through none; overrides `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
    /// Receivers on this machine (`localhost` and loopback addresses) are always reached directly.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_endpoint("http://collector:4317".parse()?).with_proxy(Some("http://proxy:3128".parse()?));
    /// assert_eq!(config.destinations(Signal::Traces), ["http://collector:4317 by grpc through http://proxy:3128"]);
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
    #[must_use]
    pub fn with_proxy(self, proxy: Option<Endpoint>) -> Self {
        let proxy = proxy.map(|proxy| Masked::from(proxy.with_scheme(Scheme::Http).without_path()));
        self.set("proxy.https", move |config| {
            config.settings.proxies = Proxies { http: proxy.clone(), https: proxy.clone(), bypass: None };
            config.origins.set("proxy.http", Origin::Code);
            config.origins.set("proxy.bypass", Origin::Code);
        })
    }

    /// Sets the TLS certificates of all signals.
    ///
    /// ```
    /// # use tracecast::config::{Config, TlsFiles};
    /// let config = Config::new().with_tls(TlsFiles::default().with_ca("/etc/store/ca.pem"));
    /// assert_eq!(config.get("otlp.tls.ca").as_deref(), Some("/etc/store/ca.pem"));
    /// ```
    #[must_use]
    pub fn with_tls(self, tls: TlsFiles) -> Self {
        self.change("otlp.tls.ca", move |config| {
            config.settings.everywhere(|otlp| otlp.tls = tls.clone());
            config.origins.set("otlp.tls.client_certificate", Origin::Code);
            config.origins.set("otlp.tls.client_key", Origin::Code);
        })
    }

    /// Sets the compression of requests of all signals.
    ///
    /// ```
    /// # use tracecast::config::{Compression, Config};
    /// let config = Config::new().with_compression(Compression::Gzip);
    /// assert_eq!(config.get("otlp.compression").as_deref(), Some("Gzip"));
    /// ```
    #[must_use]
    pub fn with_compression(self, compression: Compression) -> Self {
        self.change("otlp.compression", move |config| {
            config.settings.everywhere(|otlp| otlp.compression = Some(compression))
        })
    }

    /// Sets the timeout of one request, for all signals.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_timeout(Duration::from_secs(3));
    /// assert_eq!(config.get("otlp.timeout").as_deref(), Some("3s"));
    /// ```
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.change("otlp.timeout", move |config| config.settings.everywhere(|otlp| otlp.timeout = Some(timeout)))
    }

    /// Disables TLS for endpoints without a scheme, for all signals.
    ///
    /// ```
    /// # use tracecast::config::{Config, Signal};
    /// let config = Config::new().with_endpoint("collector:4317".parse()?).with_insecure(true);
    /// assert_eq!(config.destinations(Signal::Traces), ["http://collector:4317 by grpc"]);
    /// # Ok::<(), tracecast::config::EndpointError>(())
    /// ```
    #[must_use]
    pub fn with_insecure(self, insecure: bool) -> Self {
        self.change("otlp.insecure", move |config| config.settings.everywhere(|otlp| otlp.insecure = Some(insecure)))
    }

    /// Sets the OTLP settings of one signal. Fields that are not set fall back to those for all signals.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::{Config, OtlpSettings, Signal};
    /// let of_logs = OtlpSettings::default().with_timeout(Duration::from_secs(2));
    /// let config = Config::new().with_timeout(Duration::from_secs(5)).with_otlp_of(Signal::Logs, of_logs);
    /// assert_eq!(config.get("logs.otlp.timeout").as_deref(), Some("2s"));
    /// ```
    #[must_use]
    pub fn with_otlp_of(self, signal: Signal, otlp: OtlpSettings) -> Self {
        self.change(of(signal, ENDPOINTS), move |config| {
            config.settings.otlp_of(signal).clone_from(&otlp);
            let of_signal = settings().filter(|setting| setting.is_otlp_of(signal));
            of_signal.for_each(|setting| config.origins.set(setting.name, Origin::Code));
        })
    }

    /// Sets the exporters of one signal; an empty list turns the signal off.
    ///
    /// ```
    /// # use tracecast::config::{Config, Exporter, Signal};
    /// let config = Config::from_env()
    ///     .with_exporters(Signal::Traces, vec![Exporter::Console])
    ///     .with_exporters(Signal::Logs, vec![]);
    /// assert!(!config.is_on(Signal::Logs));
    /// ```
    #[must_use]
    pub fn with_exporters(self, signal: Signal, exporters: Vec<Exporter>) -> Self {
        let setting = of(signal, ["traces.exporters", "metrics.exporters", "logs.exporters"]);
        self.set(setting, move |config| *config.settings.exporters_of(signal) = Some(exporters.clone()))
    }

    /// Sets the sampler, which decides for root spans.
    ///
    /// ```
    /// # use tracecast::{Sampler, config::Config};
    /// let config = Config::new().with_sampler(Sampler::Ratio(0.1));
    /// assert_eq!(config.get("traces.sampler").as_deref(), Some("Ratio(0.1)"));
    /// ```
    #[must_use]
    pub fn with_sampler(self, sampler: Sampler) -> Self {
        self.set("traces.sampler", move |config| config.settings.traces.sampler.clone_from(&sampler))
    }

    /// Changes the limits of one span.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_limits(|limits| limits.attributes = 32);
    /// assert_eq!(config.get("traces.limits.attributes").as_deref(), Some("32"));
    /// ```
    #[must_use]
    pub fn with_limits(self, change: impl Fn(&mut Limits) + Send + Sync + 'static) -> Self {
        self.change("traces.limits", move |config| change(&mut config.settings.traces.limits))
    }

    /// Limits the number of attributes of one link.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_attributes_per_link(16);
    /// assert_eq!(config.get("traces.attributes_per_link").as_deref(), Some("16"));
    /// ```
    #[must_use]
    pub fn with_attributes_per_link(self, limit: u32) -> Self {
        self.set("traces.attributes_per_link", move |config| config.settings.traces.attributes_per_link = Some(limit))
    }

    /// Changes how spans are batched into requests.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_span_batch(|batch| batch.size = 256);
    /// assert_eq!(config.get("traces.batch.size").as_deref(), Some("256"));
    /// ```
    #[must_use]
    pub fn with_span_batch(self, change: impl Fn(&mut Batch) + Send + Sync + 'static) -> Self {
        self.change("traces.batch", move |config| change(&mut config.settings.traces.batch))
    }

    /// Sets the address at which metrics are served if [`Exporter::Prometheus`] is among their exporters: by default
    /// `localhost`, port 9464. Use `0.0.0.0` to serve scrapers outside of the machine or container.
    ///
    /// ```
    /// # use tracecast::config::{Config, Exporter, Signal};
    /// let config = Config::new()
    ///     .with_exporters(Signal::Metrics, vec![Exporter::Prometheus])
    ///     .with_prometheus_address("0.0.0.0", 9090);
    /// assert_eq!(config.destinations(Signal::Metrics), ["scrapers of http://0.0.0.0:9090/metrics"]);
    /// ```
    #[must_use]
    pub fn with_prometheus_address(self, host: impl Into<String>, port: u16) -> Self {
        let host = host.into();
        self.set("metrics.prometheus.port", move |config| {
            config.settings.metrics.prometheus = ScrapeAddress { host: host.clone().into(), port };
            config.origins.set("metrics.prometheus.host", Origin::Code);
        })
    }

    /// Sets the time between two exports of metrics.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_metric_interval(Duration::from_secs(15));
    /// assert_eq!(config.get("metrics.interval").as_deref(), Some("15s"));
    /// ```
    #[must_use]
    pub fn with_metric_interval(self, interval: Duration) -> Self {
        self.set("metrics.interval", move |config| config.settings.metrics.interval = interval)
    }

    /// Sets the timeout of one attempt to export metrics.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_metric_timeout(Duration::from_secs(5));
    /// assert_eq!(config.get("metrics.timeout").as_deref(), Some("5s"));
    /// ```
    #[must_use]
    pub fn with_metric_timeout(self, timeout: Duration) -> Self {
        self.set("metrics.timeout", move |config| config.settings.metrics.timeout = timeout)
    }

    /// Chooses whether points count from the start of the process or from the last export.
    ///
    /// ```
    /// # use tracecast::config::{Config, TemporalityPreference};
    /// let config = Config::new().with_temporality(TemporalityPreference::Delta);
    /// assert_eq!(config.get("metrics.temporality").as_deref(), Some("Delta"));
    /// ```
    #[must_use]
    pub fn with_temporality(self, temporality: TemporalityPreference) -> Self {
        self.set("metrics.temporality", move |config| config.settings.metrics.temporality = temporality)
    }

    /// Sets the aggregation of histograms that declare none.
    ///
    /// ```
    /// # use tracecast::config::{Config, HistogramAggregation};
    /// let config = Config::new().with_histograms(HistogramAggregation::Exponential);
    /// assert_eq!(config.get("metrics.histograms").as_deref(), Some("Exponential"));
    /// ```
    #[must_use]
    pub fn with_histograms(self, histograms: HistogramAggregation) -> Self {
        self.set("metrics.histograms", move |config| config.settings.metrics.histograms = histograms)
    }

    /// Chooses which measurements become exemplars.
    ///
    /// ```
    /// # use tracecast::config::{Config, Exemplars};
    /// let config = Config::new().with_exemplars(Exemplars::Off);
    /// assert_eq!(config.get("metrics.exemplars").as_deref(), Some("Off"));
    /// ```
    #[must_use]
    pub fn with_exemplars(self, exemplars: Exemplars) -> Self {
        self.set("metrics.exemplars", move |config| config.settings.metrics.exemplars = exemplars)
    }

    /// Exports the metrics about telemetry itself also under the names of OpenTelemetry's conventions, such as
    /// `otel.sdk.exporter.span.exported`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_sdk_metrics(true);
    /// assert_eq!(config.get("metrics.sdk_names").as_deref(), Some("true"));
    /// ```
    #[must_use]
    pub fn with_sdk_metrics(self, on: bool) -> Self {
        self.set("metrics.sdk_names", move |config| config.settings.metrics.sdk_names = on)
    }

    /// Limits the series of each raw OpenTelemetry instrument, 2,000 by default. Replaces the limits for kinds of
    /// instruments that a configuration file can set.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_cardinality_limit(500);
    /// assert_eq!(config.get("metrics.cardinality.default").as_deref(), Some("500"));
    /// ```
    #[must_use]
    pub fn with_cardinality_limit(self, limit: u32) -> Self {
        let limits = CardinalityLimits { default: Some(limit), ..CardinalityLimits::default() };
        self.set("metrics.cardinality", move |config| config.settings.metrics.cardinality = limits)
    }

    /// Adds a view, which changes or drops metrics before they are exported.
    ///
    /// ```
    /// # use tracecast::config::{Config, View};
    /// let config = Config::new().with_view(View::of("http.client.*").dropped());
    /// assert!(config.get("metrics.views").is_some_and(|views| views.contains("http.client.*")));
    /// ```
    #[must_use]
    pub fn with_view(self, view: View) -> Self {
        self.change("metrics.views", move |config| config.settings.metrics.views.push(view.clone()))
    }

    /// Chooses how Tracecast is connected to the OpenTelemetry API: its global provider and current context. Has no
    /// effect without the feature `otel`.
    ///
    /// ```
    /// # use tracecast::config::{Config, Interop};
    /// assert_eq!(Config::new().with_interop(Interop::Off).get("interop").as_deref(), Some("Off"));
    /// ```
    #[must_use]
    pub fn with_interop(self, interop: Interop) -> Self {
        self.set("interop", move |config| config.settings.interop = interop)
    }

    /// Switches the emission of our spans as `tracing` spans, for its subscribers, on or off when traces start. Has no
    /// effect without the feature `tracing-emit`.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_tracing_emit(true).get("tracing_emit").as_deref(), Some("true"));
    /// ```
    #[must_use]
    pub fn with_tracing_emit(self, on: bool) -> Self {
        self.set("tracing_emit", move |config| config.settings.tracing_emit = Some(on))
    }

    /// Chooses the formats in which contexts are propagated.
    ///
    /// ```
    /// # use tracecast::config::{Config, Propagator};
    /// let config = Config::new().with_propagators(vec![Propagator::B3Multi]);
    /// assert_eq!(config.get("propagators").as_deref(), Some("[B3Multi]"));
    /// ```
    #[must_use]
    pub fn with_propagators(self, propagators: Vec<Propagator>) -> Self {
        self.set("propagators", move |config| config.settings.propagators.clone_from(&propagators))
    }

    /// Sets the semantic conventions to use before they become the default.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_semconv(["rpc"]).get("semconv").as_deref(), Some(r#"["rpc"]"#));
    /// ```
    #[must_use]
    pub fn with_semconv<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Self {
        let names: Vec<Masked<String>> = names.into_iter().map(|name| Masked::from(name.into())).collect();
        self.set("semconv", move |config| config.settings.semconv.clone_from(&names))
    }

    /// Chooses which components record spans.
    ///
    /// ```
    /// # use tracecast::config::{Config, Origin};
    /// let config = Config::new().with_filter("StoreDaemon=off".parse()?);
    /// assert_eq!(config.origin("filter"), &Origin::Code);
    /// # Ok::<(), tracecast::FilterError>(())
    /// ```
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        self.set("filter", move |config| config.settings.filter = filter.clone().into())
    }

    /// Chooses the async spans that record how long they were polled, how often, and their longest poll. If no rule
    /// names a span, the option `busy` of its function decides: `#[tc_span("..", busy)]`.
    ///
    /// ```
    /// # use tracecast::config::{Config, Origin};
    /// let config = Config::new().with_busy_times("*=on,Store/Heartbeat=off".parse()?);
    /// assert_eq!(config.origin("busy_times"), &Origin::Code);
    /// # Ok::<(), tracecast::FilterError>(())
    /// ```
    #[must_use]
    pub fn with_busy_times(self, filter: Filter) -> Self {
        self.set("busy_times", move |config| config.settings.busy_times = filter.clone().into())
    }

    /// Switches the watchdog for stalls on or off. The watchdog reports polls that keep their thread for long.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// assert_eq!(Config::new().with_stalls(true).get("stalls").as_deref(), Some("true"));
    /// ```
    #[must_use]
    pub fn with_stalls(self, on: bool) -> Self {
        self.set("stalls", move |config| config.settings.stalls = on)
    }

    /// Sets the shortest duration of a poll that is reported as a stall. A shorter threshold than a millisecond becomes
    /// a millisecond.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_stalls(true).with_stall_threshold(Duration::from_millis(50));
    /// assert_eq!(config.get("stall_threshold").as_deref(), Some("50ms"));
    /// ```
    #[must_use]
    pub fn with_stall_threshold(self, threshold: Duration) -> Self {
        let threshold = threshold.max(Duration::from_millis(1));
        self.set("stall_threshold", move |config| config.settings.stall_threshold = threshold)
    }

    /// Chooses which log events are recorded, by level and target.
    ///
    /// ```
    /// # use tracecast::config::{Config, Origin};
    /// let config = Config::new().with_log_filter("info,hyper=warn".parse()?);
    /// assert_eq!(config.origin("log_filter"), &Origin::Code);
    /// # Ok::<(), tracecast::config::LogFilterError>(())
    /// ```
    #[must_use]
    pub fn with_log_filter(self, filter: LogFilter) -> Self {
        self.set("log_filter", move |config| config.settings.log_filter = filter.clone().into())
    }

    /// Sets the format of log lines on standard error.
    ///
    /// ```
    /// # use tracecast::config::{Config, LogFormat};
    /// let config = Config::new().with_log_format(LogFormat::Text);
    /// assert_eq!(config.get("logs.lines").as_deref(), Some("Text"));
    /// ```
    #[must_use]
    pub fn with_log_format(self, lines: LogFormat) -> Self {
        self.set("logs.lines", move |config| config.settings.logs.lines = Some(lines))
    }

    /// Changes the limits of one log record.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_log_limits(|limits| limits.value_bytes = 1024);
    /// assert_eq!(config.get("logs.limits.value_bytes").as_deref(), Some("1024"));
    /// ```
    #[must_use]
    pub fn with_log_limits(self, change: impl Fn(&mut LogLimits) + Send + Sync + 'static) -> Self {
        self.change("logs.limits", move |config| change(&mut config.settings.logs.limits))
    }

    /// Changes how log records are batched into requests.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_log_batch(|batch| batch.size = 256);
    /// assert_eq!(config.get("logs.batch.size").as_deref(), Some("256"));
    /// ```
    #[must_use]
    pub fn with_log_batch(self, change: impl Fn(&mut Batch) + Send + Sync + 'static) -> Self {
        self.change("logs.batch", move |config| change(&mut config.settings.logs.batch))
    }

    /// Sets the most verbose level of Tracecast's own diagnostics that are printed.
    ///
    /// ```
    /// # use tracecast::config::{Config, Level};
    /// let config = Config::new().with_diagnostics_level(Level::Warn);
    /// assert_eq!(config.get("diagnostics_level").as_deref(), Some("Warn"));
    /// ```
    #[must_use]
    pub fn with_diagnostics_level(self, level: Level) -> Self {
        self.set("diagnostics_level", move |config| config.settings.diagnostics_level = level)
    }

    /// Sets the format of the console exporter.
    ///
    /// ```
    /// # use tracecast::config::{Config, ConsoleFormat};
    /// let config = Config::new().with_console(ConsoleFormat::Json);
    /// assert_eq!(config.get("console").as_deref(), Some("Json"));
    /// ```
    #[must_use]
    pub fn with_console(self, format: ConsoleFormat) -> Self {
        self.set("console", move |config| config.settings.console = format)
    }

    /// Installs a panic hook that sends pending telemetry, within a second, when a panic ends the process.
    ///
    /// The hook runs before the one that the program has at `init`. Under `panic = "abort"` it ends the spans that are
    /// entered on the panicking thread, as `panicked`, and sends pending telemetry; a spool takes what could not be
    /// sent. Otherwise the hook acts only on panics of the main thread, and not on those that tokio catches in tasks:
    /// it sends pending telemetry at the panic and (on Unix) at the exit of the process, when the spans have ended by
    /// unwinding. Panics on other threads do not end the process. `std::process::exit` and `abort` run no hook: call
    /// `Guard::flush` before them.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_panic_hook();
    /// ```
    #[must_use]
    pub fn with_panic_hook(self) -> Self {
        self.with_panic_hook_within(Duration::from_secs(1))
    }

    /// Exports spans that are still open when [`Guard::shutdown`](crate::Guard::shutdown) ends telemetry: their ids,
    /// name, start and duration so far, with `tc.outcome=unfinished` but without their attributes.
    /// [`Shutdown`](crate::shutdown::Shutdown) always exports such spans.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_env().with_unfinished_spans();
    /// # drop(config);
    /// ```
    #[must_use]
    pub fn with_unfinished_spans(self) -> Self {
        self.set("unfinished_spans", |config| config.unfinished_spans = true)
    }

    /// Installs the hook of [`Config::with_panic_hook`], with this time limit for sending telemetry instead of a
    /// second.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tracecast::config::Config;
    /// let config = Config::from_env().with_panic_hook_within(Duration::from_secs(3));
    /// ```
    #[must_use]
    pub fn with_panic_hook_within(self, timeout: Duration) -> Self {
        self.set("panic_hook", move |config| config.panic_hook = Some(timeout))
    }

    /// Sets a redaction hook, which sees every text before it leaves the process or is written to disk: values of
    /// attributes and labels, span names (as `name`), error messages, and bodies of log records (as `message`). The
    /// hook receives the name and the text; it returns a replacement, or `None` to keep the text. If it panics, the
    /// text is replaced by `[redaction failed]`.
    ///
    /// The hook runs on the export thread, and for logs on the thread that logs. It may see a text more than once: for
    /// each format in which a span is exported, and for each value that a key had.
    ///
    /// ```
    /// use tracecast::config::Config;
    ///
    /// let config = Config::from_env()
    ///     .with_redaction(|name, text| (name == "tc.prompt" || text.contains('@')).then(|| "[removed]".to_owned()));
    /// ```
    #[must_use]
    pub fn with_redaction(self, hook: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        let redact = crate::config::redact::Redact::new(hook);
        self.set("redaction", move |config| config.redact = Some(redact.clone()))
    }

    /// Stores spans and log records that cannot be sent on disk, where they survive restarts. `None` keeps them in
    /// memory only.
    ///
    /// ```
    /// # use tracecast::config::{Config, Spool};
    /// let config = Config::new().with_spool(Spool::new("/var/lib/store/telemetry"));
    /// assert_eq!(config.get("spool.directory").as_deref(), Some("/var/lib/store/telemetry"));
    /// ```
    #[must_use]
    pub fn with_spool(self, spool: impl Into<Option<Spool>>) -> Self {
        let spool = spool.into();
        self.set("spool", move |config| config.settings.spool.clone_from(&spool))
    }

    /// Limits the bytes of all buffers together.
    ///
    /// ```
    /// # use tracecast::config::Config;
    /// let config = Config::new().with_memory_limit(16 << 20);
    /// assert_eq!(config.get("memory_limit").as_deref(), Some("16777216"));
    /// ```
    #[must_use]
    pub fn with_memory_limit(self, bytes: usize) -> Self {
        self.set("memory_limit", move |config| config.settings.memory_limit = bytes)
    }
}

const ENDPOINTS: [&str; 3] = ["traces.otlp.endpoint", "metrics.otlp.endpoint", "logs.otlp.endpoint"];

fn of<T: Copy>(signal: Signal, all: [T; 3]) -> T {
    all[signal as usize]
}

impl Settings {
    fn otlp_of(&mut self, signal: Signal) -> &mut OtlpSettings {
        match signal {
            Signal::Traces => &mut self.traces.otlp,
            Signal::Metrics => &mut self.metrics.otlp,
            Signal::Logs => &mut self.logs.otlp,
        }
    }

    fn exporters_of(&mut self, signal: Signal) -> &mut Option<Vec<Exporter>> {
        match signal {
            Signal::Traces => &mut self.traces.exporters,
            Signal::Metrics => &mut self.metrics.exporters,
            Signal::Logs => &mut self.logs.exporters,
        }
    }

    /// Changes the OTLP settings for all signals, of each signal and of each exporter.
    fn everywhere(&mut self, mut change: impl FnMut(&mut OtlpSettings)) {
        change(&mut self.otlp);
        for signal in Signal::ALL {
            change(self.otlp_of(signal));
            for exporter in self.exporters_of(signal).iter_mut().flatten() {
                if let Exporter::Otlp(settings) = exporter {
                    change(settings);
                }
            }
        }
    }
}
