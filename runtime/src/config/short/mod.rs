//! The short form: a section of the application's own YAML, or of whatever else serde reads.

mod fields;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::level::LogFilter;
use super::origin::Origin;
use super::otlp::{Address, Compression, Protocol, TlsFiles};
use super::parts::{Exporter, LogLines};
use super::problem::{Severity, Wrong};
use super::values;
use super::{Config, Endpoint, Spool};
use crate::base::secret::{Masked, Secret};
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;
use crate::record::sampling::Sampler;

/// What an application's own configuration says about telemetry. All of it is optional; what is not known is refused.
///
/// ```yaml
/// telemetry:
///   service_name: store
///   role: daemon
///   otlp_endpoint: http://collector:4317
///   headers: {authorization: Bearer …}
///   resource_attributes: {deployment.environment.name: production}
///   sampling_ratio: 0.1
///   logs: false
/// ```
///
/// ```
/// use tracecast::config::{Config, Telemetry};
///
/// let telemetry: Telemetry = serde_json::from_str(r#"{"service_name": "store", "logs": false}"#)?;
/// let config = Config::new().with_telemetry(telemetry);
/// assert_eq!(config.service_name(), Some("store"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Telemetry {
    /// On or off.
    pub enabled: Option<bool>,
    /// Shows every signal on the console too.
    pub debug: Option<bool>,
    /// Makes a problem fail the start.
    pub strict: Option<bool>,
    /// The name of the service.
    pub service_name: Option<String>,
    /// What this process is among those of the product.
    pub role: Option<String>,
    /// Attributes of the resource: texts, numbers and truth values.
    pub resource_attributes: BTreeMap<String, OwnedValue>,
    /// Where all signals go; over HTTP each adds its own path.
    #[serde(deserialize_with = "fields::endpoint")]
    pub otlp_endpoint: Option<Endpoint>,
    /// `grpc`, `http/protobuf` or `http/json`.
    #[serde(deserialize_with = "fields::protocol")]
    pub protocol: Option<Protocol>,
    /// Headers of each request.
    pub headers: BTreeMap<String, Secret>,
    /// Certificates.
    pub tls: TelemetryTls,
    /// `gzip` or `none`.
    #[serde(deserialize_with = "fields::compression")]
    pub compression: Option<Compression>,
    /// Milliseconds that one request may take.
    #[serde(deserialize_with = "fields::timeout")]
    pub timeout_ms: Option<Duration>,
    /// Milliseconds between two exports of metrics.
    #[serde(deserialize_with = "fields::interval")]
    pub metric_interval_ms: Option<Duration>,
    /// The share of the roots that are recorded, from 0 to 1.
    #[serde(deserialize_with = "fields::ratio")]
    pub sampling_ratio: Option<f64>,
    /// Whether traces are exported.
    pub traces: Option<bool>,
    /// Whether metrics are exported.
    pub metrics: Option<bool>,
    /// Whether logs are exported.
    pub logs: Option<bool>,
    /// Which components make spans, as in `TC_FILTER`.
    #[serde(deserialize_with = "fields::filter")]
    pub filter: Option<Filter>,
    /// Which log events are written, as in `LOG_LEVEL`.
    #[serde(deserialize_with = "fields::log_filter")]
    pub log_level: Option<LogFilter>,
    /// How log events are written as lines: `auto`, `json`, `text` or `none`.
    #[serde(deserialize_with = "fields::log_lines")]
    pub log_format: Option<LogLines>,
    /// A directory in which spans and log records wait that cannot be sent.
    pub spool_dir: Option<PathBuf>,
    /// Memory that all buffers may take together, as in `64MiB`.
    #[serde(deserialize_with = "fields::bytes")]
    pub memory_limit: Option<usize>,
}

/// Files with certificates, in PEM format.
///
/// ```
/// use tracecast::config::Telemetry;
///
/// let telemetry: Telemetry = serde_json::from_str(r#"{"tls": {"ca_file": "/etc/store/ca.pem"}}"#)?;
/// assert!(telemetry.tls.ca_file.is_some());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TelemetryTls {
    /// Certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// The certificate that we show to the receiver.
    pub cert_file: Option<PathBuf>,
    /// Its key.
    pub key_file: Option<PathBuf>,
}

/// An application's whole document, of which only the section about telemetry is read: `telemetry`, else
/// `observability.otel`.
///
/// ```
/// use tracecast::config::TelemetrySection;
///
/// let text = r#"{"port": 80, "telemetry": {"service_name": "store"}}"#;
/// let section: TelemetrySection = serde_json::from_str(text)?;
/// assert_eq!(section.telemetry.unwrap().service_name.as_deref(), Some("store"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(from = "Document")]
#[non_exhaustive]
pub struct TelemetrySection {
    /// The section, if there is one.
    pub telemetry: Option<Telemetry>,
}

#[derive(serde::Deserialize)]
struct Document {
    telemetry: Option<Telemetry>,
    observability: Option<Observability>,
}

#[derive(serde::Deserialize)]
struct Observability {
    otel: Option<Telemetry>,
}

impl From<Document> for TelemetrySection {
    fn from(document: Document) -> Self {
        let other = document.observability.and_then(|observability| observability.otel);
        TelemetrySection { telemetry: document.telemetry.or(other) }
    }
}

impl Config {
    /// Takes what the application's own configuration says, where no variable and no earlier call said otherwise. Beside a
    /// file in OpenTelemetry's format it has no effect, because such a file says everything.
    ///
    /// ```
    /// use tracecast::config::{Config, Telemetry};
    ///
    /// let telemetry: Telemetry = serde_json::from_str(r#"{"service_name": "store", "role": "daemon"}"#)?;
    /// let config = Config::new().with_role("client").with_telemetry(telemetry);
    /// assert_eq!((config.service_name(), config.role()), (Some("store"), Some("client")));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        if self.declarative {
            return self;
        }
        self.take_process(&telemetry);
        self.take_signals(&telemetry);
        self.take_otlp(telemetry);
        self
    }

    fn take_process(&mut self, telemetry: &Telemetry) {
        self.fill("enabled", telemetry.enabled, |config, enabled| config.enabled = Some(enabled));
        self.fill("debug", telemetry.debug, |config, debug| config.debug = debug);
        self.fill("strict", telemetry.strict, |config, strict| config.strict = strict);
        self.fill("memory_limit", telemetry.memory_limit, |config, bytes| config.memory_limit = bytes);
        self.fill("filter", telemetry.filter.clone(), |config, filter| config.filter = filter.into());
        self.fill("log_filter", telemetry.log_level.clone(), |config, filter| config.log_filter = filter.into());
        for (setting, name, text) in
            [("service_name", "service.name", &telemetry.service_name), ("role", "tc.role", &telemetry.role)]
        {
            self.fill(setting, text.clone(), |config, text| {
                config.resource.set(name, Masked::from(OwnedValue::from(text)));
            });
        }
        for (name, value) in &telemetry.resource_attributes {
            if self.resource.get(name).is_none() {
                self.resource.set(name, Masked::from(value.clone()));
            }
        }
    }

    fn take_signals(&mut self, telemetry: &Telemetry) {
        let exporters = |on: bool| if on { vec![Exporter::Otlp(Box::default())] } else { Vec::new() };
        self.fill("traces.exporters", telemetry.traces.map(exporters), |config, exporters| {
            config.traces.exporters = Some(exporters);
        });
        self.fill("metrics.exporters", telemetry.metrics.map(exporters), |config, exporters| {
            config.metrics.exporters = Some(exporters);
        });
        self.fill("logs.exporters", telemetry.logs.map(exporters), |config, exporters| {
            config.logs.exporters = Some(exporters);
        });
        self.fill("traces.sampler", telemetry.sampling_ratio, |config, ratio| {
            config.traces.sampler = Sampler::Ratio(ratio);
        });
        self.fill("spool", telemetry.spool_dir.clone(), |config, directory| config.spool = Some(Spool::new(directory)));
        self.fill("logs.lines", telemetry.log_format, |config, lines| config.logs.lines = Some(lines));
        self.fill("metrics.interval", telemetry.metric_interval_ms, |config, interval| {
            config.metrics.interval = interval;
        });
    }

    fn take_otlp(&mut self, telemetry: Telemetry) {
        let Telemetry { otlp_endpoint, protocol, compression, timeout_ms, headers, tls, .. } = telemetry;
        self.fill("otlp.endpoint", otlp_endpoint, |config, endpoint| {
            config.otlp.address = Some(Address::Base(endpoint.into()));
        });
        self.fill("otlp.protocol", protocol, |config, protocol| config.otlp.protocol = Some(protocol));
        self.fill("otlp.compression", compression, |config, compression| config.otlp.compression = Some(compression));
        self.fill("otlp.timeout", timeout_ms, |config, timeout| config.otlp.timeout = Some(timeout));
        if !headers.is_empty() {
            let headers = self.sendable(headers);
            self.fill("otlp.headers", Some(headers), |config, headers| config.otlp.headers = Some(headers));
        }
        let TelemetryTls { ca_file, cert_file, key_file } = tls;
        self.fill("otlp.tls.ca", ca_file, |config, file| config.otlp.tls.ca = Some(file.into()));
        if cert_file.is_some() != key_file.is_some() {
            let wrong = Wrong::new("has half of a client certificate", "both `cert_file` and `key_file`");
            let problem = wrong.using("none").at_place("telemetry.tls", Severity::Warning);
            self.problems.push(problem);
        }
        self.fill("otlp.tls.client_certificate", cert_file.zip(key_file), |config, (certificate, key)| {
            let ca = config.otlp.tls.ca.take();
            config.otlp.tls =
                TlsFiles { ca, client_certificate: Some(certificate.into()), client_key: Some(key.into()) };
            config.origins.set("otlp.tls.client_key", Origin::Section);
        });
    }

    /// The headers that HTTP can carry; the others are reported.
    fn sendable(&mut self, headers: BTreeMap<String, Secret>) -> Vec<(String, Secret)> {
        let mut all = Vec::new();
        for (name, value) in headers {
            match values::header(&name, value.reveal().to_owned()) {
                Some(header) => all.push(header),
                None => {
                    let wrong = Wrong::new("is not a header", "a name and a value that HTTP can carry");
                    let problem =
                        wrong.at_place(format!("telemetry.headers.{}", name.escape_debug()), Severity::Warning);
                    self.problems.push(problem);
                }
            }
        }
        all
    }

    /// Sets what nobody said.
    fn fill<T>(&mut self, setting: &'static str, value: Option<T>, put: impl FnOnce(&mut Config, T)) {
        if let (Some(value), Origin::Default) = (value, self.origins.of(setting)) {
            put(self, value);
            self.origins.set(setting, Origin::Section);
        }
    }
}
