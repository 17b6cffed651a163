//! The short form: a section of the application's own configuration, in any format that serde reads.

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

/// The telemetry section of an application's own configuration, read by serde. All keys are optional; unknown keys are
/// rejected. The book lists the keys.
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
    /// Explicit on/off switch.
    pub(super) enabled: Option<bool>,
    /// Adds the console to the exporters of every signal that is not explicitly off.
    pub(super) debug: Option<bool>,
    /// Fails the start if the configuration has a problem.
    pub(super) strict: Option<bool>,
    /// The name of the service.
    pub(super) service_name: Option<String>,
    /// The role of this process within the product.
    pub(super) role: Option<String>,
    /// Resource attributes: strings, numbers and booleans.
    pub(super) resource_attributes: BTreeMap<String, OwnedValue>,
    /// The endpoint of all signals; over HTTP each signal appends its own path.
    #[serde(deserialize_with = "fields::endpoint")]
    pub(super) otlp_endpoint: Option<Endpoint>,
    /// `grpc`, `http/protobuf` or `http/json`.
    #[serde(deserialize_with = "fields::protocol")]
    pub(super) protocol: Option<Protocol>,
    /// Headers of each request.
    pub(super) headers: BTreeMap<String, Secret>,
    /// Files with the values of headers, by header name; read again when they change.
    pub(super) header_files: BTreeMap<String, PathBuf>,
    /// TLS certificates.
    pub(super) tls: TelemetryTls,
    /// `gzip` or `none`.
    #[serde(deserialize_with = "fields::compression")]
    pub(super) compression: Option<Compression>,
    /// The timeout of one request in milliseconds.
    #[serde(deserialize_with = "fields::timeout")]
    pub(super) timeout_ms: Option<Duration>,
    /// The time between two exports of metrics in milliseconds.
    #[serde(deserialize_with = "fields::interval")]
    pub(super) metric_interval_ms: Option<Duration>,
    /// The share of root spans that are sampled, from 0 to 1.
    #[serde(deserialize_with = "fields::ratio")]
    pub(super) sampling_ratio: Option<f64>,
    /// Whether traces are exported.
    pub(super) traces: Option<bool>,
    /// Whether metrics are exported.
    pub(super) metrics: Option<bool>,
    /// Whether logs are exported.
    pub(super) logs: Option<bool>,
    /// The components that record spans, as in `TC_SPAN_FILTER`.
    #[serde(deserialize_with = "fields::filter")]
    pub(super) filter: Option<Filter>,
    /// The log filter, as in `LOG_LEVEL`.
    #[serde(deserialize_with = "fields::log_filter")]
    pub(super) log_level: Option<LogFilter>,
    /// The format of log lines: `auto`, `json`, `text` or `none`.
    #[serde(deserialize_with = "fields::log_lines")]
    pub(super) log_format: Option<LogFormat>,
    /// The directory of the on-disk buffer for spans and log records that could not be sent.
    pub(super) spool_dir: Option<PathBuf>,
    /// The limit for the bytes of all buffers together, as in `64MiB`.
    #[serde(deserialize_with = "fields::bytes")]
    pub(super) memory_limit: Option<usize>,
}

/// Files with certificates, in PEM format.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TelemetryTls {
    /// Certificates of trusted authorities, instead of the system's.
    pub(super) ca_file: Option<PathBuf>,
    /// The client certificate.
    pub(super) cert_file: Option<PathBuf>,
    /// The client certificate's key.
    pub(super) key_file: Option<PathBuf>,
}

/// An application's whole configuration, of which only the telemetry section is read: `telemetry`, else
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

    /// Reports problems that serde cannot detect.
    pub(super) fn check(&mut self, telemetry: &Telemetry) {
        let headers = telemetry.headers.iter().filter(|(name, value)| header(name, value).is_none());
        let files = telemetry.header_files.keys().filter(|name| header(name, &Secret::default()).is_none());
        let wrong = headers.map(|(name, _)| ("headers", name)).chain(files.map(|name| ("header_files", name)));
        for (key, name) in wrong {
            let wrong = values::invalid_header();
            let place = format!("telemetry.{key}.{}", name.escape_debug());
            self.problems.push(wrong.at_place(place, Severity::Warning));
        }
        if telemetry.tls.cert_file.is_some() != telemetry.tls.key_file.is_some() {
            let wrong = Wrong::with_help("requires both `cert_file` and `key_file`", "client certificate disabled");
            self.problems.push(wrong.at_place("telemetry.tls", Severity::Warning));
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

    /// Returns the valid headers; `None` if the section has no headers.
    pub(super) fn sendable_headers(&self) -> Option<Vec<(String, HeaderSource)>> {
        let named = |name: &str| header(name, &Secret::default()).map(|(name, _)| name);
        let files = self
            .header_files
            .iter()
            .filter_map(|(name, path)| Some((named(name)?, HeaderSource::File(path.clone().into()))));
        let values = self.headers.iter().filter_map(|(name, value)| header(name, value));
        // If a header has both a value and a file, the file is used.
        let values = values.filter(|(name, _)| !self.header_files.keys().any(|file| file.eq_ignore_ascii_case(name)));
        let sendable = values.map(|(name, value)| (name, value.into())).chain(files);
        (!self.headers.is_empty() || !self.header_files.is_empty()).then(|| sendable.collect())
    }
}

fn header(name: &str, value: &Secret) -> Option<(String, Secret)> {
    values::header(name, value.reveal().to_owned())
}

impl TelemetryTls {
    /// Returns the client certificate and its key, if both are set.
    pub(super) fn client(&self) -> Option<(Masked<PathBuf>, Masked<PathBuf>)> {
        let files = self.cert_file.clone().zip(self.key_file.clone());
        files.map(|(certificate, key)| (certificate.into(), key.into()))
    }
}
