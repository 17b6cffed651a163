//! The short form: a section of the application's own YAML, or of whatever else serde reads.

mod fields;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::header::HeaderSource;
use super::level::LogFilter;
use super::otlp::{Address, Compression, Protocol};
use super::parts::{Exporter, LogFormat};
use super::problem::{Severity, Wrong};
use super::values;
use super::{Config, Endpoint};
use crate::base::secret::{Masked, Secret};
use crate::declare::filter::Filter;
use crate::declare::value::OwnedValue;

/// What an application's own configuration says about telemetry, for serde to read. All of it is optional; what is not known
/// is refused. The book lists the keys.
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
pub struct Telemetry {
    /// On or off.
    pub(super) enabled: Option<bool>,
    /// Shows every signal on the console too.
    pub(super) debug: Option<bool>,
    /// Makes a problem fail the start.
    pub(super) strict: Option<bool>,
    /// The name of the service.
    pub(super) service_name: Option<String>,
    /// What this process is among those of the product.
    pub(super) role: Option<String>,
    /// Attributes of the resource: texts, numbers and truth values.
    pub(super) resource_attributes: BTreeMap<String, OwnedValue>,
    /// Where all signals go; over HTTP each adds its own path.
    #[serde(deserialize_with = "fields::endpoint")]
    pub(super) otlp_endpoint: Option<Endpoint>,
    /// `grpc`, `http/protobuf` or `http/json`.
    #[serde(deserialize_with = "fields::protocol")]
    pub(super) protocol: Option<Protocol>,
    /// Headers of each request.
    pub(super) headers: BTreeMap<String, Secret>,
    /// Files with the values of headers, by the headers' names; read again when they change.
    pub(super) header_files: BTreeMap<String, PathBuf>,
    /// Certificates.
    pub(super) tls: TelemetryTls,
    /// `gzip` or `none`.
    #[serde(deserialize_with = "fields::compression")]
    pub(super) compression: Option<Compression>,
    /// Milliseconds that one request may take.
    #[serde(deserialize_with = "fields::timeout")]
    pub(super) timeout_ms: Option<Duration>,
    /// Milliseconds between two exports of metrics.
    #[serde(deserialize_with = "fields::interval")]
    pub(super) metric_interval_ms: Option<Duration>,
    /// The share of the roots that are recorded, from 0 to 1.
    #[serde(deserialize_with = "fields::ratio")]
    pub(super) sampling_ratio: Option<f64>,
    /// Whether traces are exported.
    pub(super) traces: Option<bool>,
    /// Whether metrics are exported.
    pub(super) metrics: Option<bool>,
    /// Whether logs are exported.
    pub(super) logs: Option<bool>,
    /// Which components make spans, as in `TC_SPAN_FILTER`.
    #[serde(deserialize_with = "fields::filter")]
    pub(super) filter: Option<Filter>,
    /// Which log events are written, as in `LOG_LEVEL`.
    #[serde(deserialize_with = "fields::log_filter")]
    pub(super) log_level: Option<LogFilter>,
    /// How log events are written as lines: `auto`, `json`, `text` or `none`.
    #[serde(deserialize_with = "fields::log_lines")]
    pub(super) log_format: Option<LogFormat>,
    /// A directory in which spans and log records wait that cannot be sent.
    pub(super) spool_dir: Option<PathBuf>,
    /// Memory that all buffers may take together, as in `64MiB`.
    #[serde(deserialize_with = "fields::bytes")]
    pub(super) memory_limit: Option<usize>,
}

/// Files with certificates, in PEM format.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TelemetryTls {
    /// Certificates to trust instead of the system's.
    pub(super) ca_file: Option<PathBuf>,
    /// The certificate that we show to the receiver.
    pub(super) cert_file: Option<PathBuf>,
    /// Its key.
    pub(super) key_file: Option<PathBuf>,
}

/// An application's whole document, of which only the section about telemetry is read: `telemetry`, else
/// `observability.otel`.
///
/// ```
/// use tracecast::config::{Config, TelemetrySection};
///
/// let text = r#"{"port": 80, "telemetry": {"service_name": "store"}}"#;
/// let section: TelemetrySection = serde_json::from_str(text)?;
/// let config = Config::new().with_telemetry(section.telemetry.unwrap_or_default());
/// assert_eq!(config.service_name(), Some("store"));
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
    pub(super) fn fill_attribute(&mut self, name: &str, text: Option<&String>) -> bool {
        let value = text.map(|text| Masked::from(OwnedValue::from(text.clone())));
        value.map(|value| self.settings.resource.set(name, value)).is_some()
    }

    /// Reports what serde could not see.
    pub(super) fn check(&mut self, telemetry: &Telemetry) {
        let headers = telemetry.headers.iter().filter(|(name, value)| header(name, value).is_none());
        let files = telemetry.header_files.keys().filter(|name| header(name, &Secret::default()).is_none());
        let wrong = headers.map(|(name, _)| ("headers", name)).chain(files.map(|name| ("header_files", name)));
        for (key, name) in wrong {
            let wrong = Wrong::new("is not a header", "a name and a value that HTTP can carry");
            let place = format!("telemetry.{key}.{}", name.escape_debug());
            self.problems.push(wrong.at_place(place, Severity::Warning));
        }
        if telemetry.tls.cert_file.is_some() != telemetry.tls.key_file.is_some() {
            let wrong = Wrong::new("has half of a client certificate", "both `cert_file` and `key_file`");
            self.problems.push(wrong.using("none").at_place("telemetry.tls", Severity::Warning));
        }
    }
}

pub(super) fn exporters(on: bool) -> Vec<Exporter> {
    if on { vec![Exporter::Otlp(Box::default())] } else { Vec::new() }
}

impl Telemetry {
    pub(super) fn address(&self) -> Option<Address> {
        self.otlp_endpoint.clone().map(|endpoint| Address::Base(endpoint.into()))
    }

    /// The headers that HTTP can carry.
    pub(super) fn sendable_headers(&self) -> Option<Vec<(String, HeaderSource)>> {
        let named = |name: &str| header(name, &Secret::default()).map(|(name, _)| name);
        let files = self
            .header_files
            .iter()
            .filter_map(|(name, path)| Some((named(name)?, HeaderSource::File(path.clone().into()))));
        let values = self.headers.iter().filter_map(|(name, value)| header(name, value));
        // A file replaces a value of the same name.
        let values = values.filter(|(name, _)| !self.header_files.keys().any(|file| file.eq_ignore_ascii_case(name)));
        let sendable = values.map(|(name, value)| (name, value.into())).chain(files);
        (!self.headers.is_empty() || !self.header_files.is_empty()).then(|| sendable.collect())
    }
}

fn header(name: &str, value: &Secret) -> Option<(String, Secret)> {
    values::header(name, value.reveal().to_owned())
}

impl TelemetryTls {
    /// The client certificate and its key, if both are there.
    pub(super) fn client(&self) -> Option<(Masked<PathBuf>, Masked<PathBuf>)> {
        let files = self.cert_file.clone().zip(self.key_file.clone());
        files.map(|(certificate, key)| (certificate.into(), key.into()))
    }
}
