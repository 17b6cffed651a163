//! OTLP settings for all signals and for one, and how defaults are filled in.

use std::path::PathBuf;
use std::time::Duration;

use super::endpoint::{Endpoint, Scheme};
use super::header::{HeaderCallback, HeaderSource};
use super::proxy::Proxies;
use crate::base::secret::{Masked, Secret};

/// A kind of telemetry.
///
/// ```
/// use tracecast::config::{Config, Signal};
///
/// let config = Config::new().with_signal_endpoint(Signal::Traces, "http://collector:4318/v1/traces".parse()?);
/// assert!(config.is_on(Signal::Traces));
/// assert!(!config.is_on(Signal::Metrics));
/// # Ok::<(), tracecast::config::EndpointError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::__private::TcLabel)]
#[tc_label(crate = crate)]
#[non_exhaustive]
pub enum Signal {
    /// Spans.
    Traces,
    /// Points of metrics.
    Metrics,
    /// Log records.
    Logs,
}

impl Signal {
    /// All signals.
    ///
    /// ```
    /// use tracecast::config::Signal;
    ///
    /// assert_eq!(Signal::ALL.map(Signal::name), ["traces", "metrics", "logs"]);
    /// ```
    pub const ALL: [Signal; 3] = [Signal::Traces, Signal::Metrics, Signal::Logs];

    /// Returns the name of the signal: `traces`, `metrics` or `logs`.
    ///
    /// ```
    /// # use tracecast::config::Signal;
    /// assert_eq!(Signal::Traces.name(), "traces");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
            Signal::Logs => "logs",
        }
    }
}

/// The OTLP transport protocol.
///
/// ```
/// use tracecast::config::{Config, Protocol};
///
/// let config = Config::new().with_protocol(Protocol::Grpc);
/// assert_eq!(config.get("otlp.protocol").as_deref(), Some("Grpc"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// gRPC, usually on port 4317.
    Grpc,
    /// Protobuf over HTTP, usually on port 4318.
    #[default]
    HttpProtobuf,
    /// JSON over HTTP.
    HttpJson,
}

impl Protocol {
    /// Returns the name of the protocol: `grpc`, `http/protobuf` or `http/json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Protocol::Grpc => "grpc",
            Protocol::HttpProtobuf => "http/protobuf",
            Protocol::HttpJson => "http/json",
        }
    }
}

/// The compression of requests.
///
/// ```
/// use tracecast::config::{Compression, Config};
///
/// let config = Config::new().with_compression(Compression::Gzip);
/// assert_eq!(config.get("otlp.compression").as_deref(), Some("Gzip"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// gzip.
    Gzip,
}

/// TLS certificates: files in PEM format, which are read again when they change.
///
/// ```
/// use tracecast::config::{Config, TlsFiles};
///
/// let tls = TlsFiles::default().with_ca("/etc/store/ca.pem").with_client("/etc/store/cert.pem", "/etc/store/key.pem");
/// let config = Config::new().with_tls(tls);
/// assert_eq!(config.get("otlp.tls.ca").as_deref(), Some("/etc/store/ca.pem"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of trusted authorities, instead of the system's.
    pub(crate) ca: Option<Masked<PathBuf>>,
    /// The client certificate.
    pub(crate) client_certificate: Option<Masked<PathBuf>>,
    /// The client certificate's key.
    pub(crate) client_key: Option<Masked<PathBuf>>,
}

impl TlsFiles {
    /// Trusts the certificates in this file instead of the system's.
    ///
    /// ```
    /// use tracecast::config::TlsFiles;
    ///
    /// let tls = TlsFiles::default().with_ca("/etc/store/ca.pem");
    /// ```
    #[must_use]
    pub fn with_ca(self, ca: impl Into<PathBuf>) -> Self {
        TlsFiles { ca: Some(ca.into().into()), ..self }
    }

    /// Presents this client certificate, with its key, to the receiver.
    ///
    /// ```
    /// use tracecast::config::TlsFiles;
    ///
    /// let tls = TlsFiles::default().with_client("/etc/store/cert.pem", "/etc/store/key.pem");
    /// ```
    #[must_use]
    pub fn with_client(self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        let (certificate, key) = (certificate.into(), key.into());
        TlsFiles { client_certificate: Some(certificate.into()), client_key: Some(key.into()), ..self }
    }

    fn or(self, other: &TlsFiles) -> TlsFiles {
        TlsFiles {
            ca: self.ca.or_else(|| other.ca.clone()),
            client_certificate: self.client_certificate.or_else(|| other.client_certificate.clone()),
            client_key: self.client_key.or_else(|| other.client_key.clone()),
        }
    }
}

/// An endpoint with the rule for its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// For all signals: over HTTP each signal appends its own path, `/v1/traces` and so on.
    Base(Masked<Endpoint>),
    /// For one signal, used as it is.
    Exact(Masked<Endpoint>),
}

impl Address {
    pub(super) fn endpoint(&self) -> &Masked<Endpoint> {
        match self {
            Address::Base(endpoint) | Address::Exact(endpoint) => endpoint,
        }
    }
}

/// OTLP settings. Fields that are not set fall back to the settings for all signals, then to the defaults.
///
/// ```
/// use std::time::Duration;
/// use tracecast::config::{Config, OtlpSettings, Signal};
///
/// let of_logs = OtlpSettings::default().with_timeout(Duration::from_secs(2)); // log records alone
/// let config = Config::new().with_timeout(Duration::from_secs(5)).with_otlp_of(Signal::Logs, of_logs);
/// assert_eq!(config.get("otlp.timeout").as_deref(), Some("5s"));
/// assert_eq!(config.get("logs.otlp.timeout").as_deref(), Some("2s"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpSettings {
    /// The receiver's address.
    pub(crate) address: Option<Address>,
    /// The protocol. By default `http/protobuf`, or gRPC if the endpoint's port is 4317.
    pub(crate) protocol: Option<Protocol>,
    /// Headers of each request.
    pub(crate) headers: Option<Vec<(String, HeaderSource)>>,
    /// TLS certificates.
    pub(crate) tls: TlsFiles,
    /// The compression; none by default.
    pub(crate) compression: Option<Compression>,
    /// The timeout of one request; 10 s by default.
    pub(crate) timeout: Option<Duration>,
    /// True if an endpoint without a scheme is reached without TLS; false by default.
    pub(crate) insecure: Option<bool>,
}

/// Defines methods that set an option of one signal or exporter. The methods of [`Config`](super::Config) with the same
/// names set the option for all signals.
macro_rules! options {
    ($($(#[$doc:meta])* $method:ident($option:ident: $type:ty) => $field:ident = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $method(self, $option: $type) -> Self {
            OtlpSettings { $field: $value, ..self }
        }
    )*};
}

impl OtlpSettings {
    options! {
        /// Sends to exactly this address: no path is appended.
        ///
        /// ```
        /// # use tracecast::config::{Config, Exporter, OtlpSettings, Signal};
        /// let otlp = OtlpSettings::default().with_endpoint("http://collector:4318/v1/traces".parse()?);
        /// let config = Config::new().with_exporters(Signal::Traces, vec![Exporter::Otlp(Box::new(otlp))]);
        /// assert_eq!(config.destinations(Signal::Traces), ["http://collector:4318/v1/traces by http/protobuf"]);
        /// # Ok::<(), tracecast::config::EndpointError>(())
        /// ```
        with_endpoint(endpoint: Endpoint) => address = Some(Address::Exact(endpoint.into()));
        /// Sets the protocol. By default `http/protobuf`, or gRPC if the endpoint's port is 4317.
        ///
        /// ```
        /// # use tracecast::config::{OtlpSettings, Protocol};
        /// let otlp = OtlpSettings::default().with_protocol(Protocol::Grpc);
        /// ```
        with_protocol(protocol: Protocol) => protocol = Some(protocol);
        /// Sets the TLS certificates.
        ///
        /// ```
        /// # use tracecast::config::{OtlpSettings, TlsFiles};
        /// let otlp = OtlpSettings::default().with_tls(TlsFiles::default().with_ca("/etc/store/ca.pem"));
        /// ```
        with_tls(tls: TlsFiles) => tls = tls;
        /// Sets the compression; none by default.
        ///
        /// ```
        /// # use tracecast::config::{Compression, OtlpSettings};
        /// let otlp = OtlpSettings::default().with_compression(Compression::Gzip);
        /// ```
        with_compression(compression: Compression) => compression = Some(compression);
        /// Sets the timeout of one request; 10 s by default.
        ///
        /// ```
        /// # use std::time::Duration;
        /// # use tracecast::config::OtlpSettings;
        /// let otlp = OtlpSettings::default().with_timeout(Duration::from_secs(3));
        /// ```
        with_timeout(timeout: Duration) => timeout = Some(timeout);
        /// Disables TLS if the endpoint has no scheme.
        ///
        /// ```
        /// # use tracecast::config::OtlpSettings;
        /// let otlp = OtlpSettings::default().with_insecure(true);
        /// ```
        with_insecure(insecure: bool) => insecure = Some(insecure);
    }

    /// Adds a header to each request. Headers set here replace the headers that were set before for all signals;
    /// headers that are set for all signals later are added.
    ///
    /// ```
    /// # use tracecast::config::{OtlpSettings, Secret};
    /// let otlp = OtlpSettings::default().with_header("authorization", Secret::new("Bearer hunter2"));
    /// assert!(!format!("{otlp:?}").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn with_header(self, name: &str, value: Secret) -> Self {
        self.with_header_source(name, value.into())
    }

    /// Adds a header and takes its value from a file, as [`Config::with_header_file`](super::Config::with_header_file)
    /// does for all signals.
    ///
    /// ```
    /// # use tracecast::config::OtlpSettings;
    /// let otlp = OtlpSettings::default().with_header_file("authorization", "/var/run/secrets/tokens/otel");
    /// ```
    #[must_use]
    pub fn with_header_file(self, name: &str, path: impl Into<PathBuf>) -> Self {
        self.with_header_source(name, HeaderSource::File(path.into().into()))
    }

    /// Adds a header and takes its value from a callback, as
    /// [`Config::with_header_from`](super::Config::with_header_from) does for all signals.
    ///
    /// ```
    /// # use tracecast::config::{OtlpSettings, Secret};
    /// let otlp = OtlpSettings::default().with_header_from("x-api-key", || Some(Secret::new("hunter2")));
    /// ```
    #[must_use]
    pub fn with_header_from(self, name: &str, value: impl Fn() -> Option<Secret> + Send + Sync + 'static) -> Self {
        let callback: HeaderCallback = std::sync::Arc::new(value);
        self.with_header_source(name, HeaderSource::Callback(callback))
    }

    fn with_header_source(mut self, name: &str, source: HeaderSource) -> Self {
        self.headers.get_or_insert_default();
        self.set_header(&name.to_ascii_lowercase(), &source);
        self
    }

    /// Sets a header, but only if these settings have headers of their own.
    pub(super) fn set_header(&mut self, name: &str, value: &HeaderSource) {
        if let Some(headers) = &mut self.headers {
            headers.retain(|(given, _)| given != name);
            headers.push((name.to_owned(), value.clone()));
        }
    }

    /// Fills in fields that are not set from `other`.
    pub(super) fn or(self, other: &OtlpSettings) -> OtlpSettings {
        OtlpSettings {
            address: self.address.or_else(|| other.address.clone()),
            protocol: self.protocol.or(other.protocol),
            headers: self.headers.or_else(|| other.headers.clone()),
            tls: self.tls.or(&other.tls),
            compression: self.compression.or(other.compression),
            timeout: self.timeout.or(other.timeout),
            insecure: self.insecure.or(other.insecure),
        }
    }

    /// Returns the configured protocol, or the default for the endpoint's port.
    pub(super) fn effective_protocol(&self) -> Protocol {
        let port = self.address.as_ref().and_then(|address| address.endpoint().port());
        let by_port = if port == Some(4317) { Protocol::Grpc } else { Protocol::default() };
        self.protocol.unwrap_or(by_port)
    }

    /// Fills in all defaults.
    pub(super) fn resolve(self, signal: Signal, proxies: &Proxies) -> Otlp {
        let protocol = self.effective_protocol();
        let scheme = if self.insecure == Some(true) { Scheme::Http } else { Scheme::Https };
        let address = self.address.unwrap_or_else(|| Address::Base(default_endpoint(protocol)));
        let endpoint = match (protocol, address) {
            (Protocol::Grpc, Address::Base(endpoint) | Address::Exact(endpoint)) => {
                endpoint.map(Endpoint::without_path)
            }
            (_, Address::Base(endpoint)) => endpoint.map(|endpoint| with_signal_path(endpoint, signal)),
            (_, Address::Exact(endpoint)) => endpoint.map(with_root_path),
        };
        let endpoint = endpoint.map(|endpoint| endpoint.with_scheme(scheme));
        Otlp {
            protocol,
            proxy: proxies.of(&endpoint, protocol == Protocol::Grpc),
            endpoint,
            headers: self.headers.unwrap_or_default(),
            tls: self.tls,
            compression: self.compression.unwrap_or_default(),
            timeout: self.timeout.unwrap_or(Duration::from_secs(10)),
        }
    }
}

/// The settings of an OTLP exporter, with all defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Otlp {
    /// The protocol.
    pub(crate) protocol: Protocol,
    /// The receiver's address with its scheme, and with its path if the protocol uses HTTP.
    pub(crate) endpoint: Masked<Endpoint>,
    /// The proxy through which the receiver is reached.
    pub(crate) proxy: Option<Masked<Endpoint>>,
    /// Headers of each request.
    pub(crate) headers: Vec<(String, HeaderSource)>,
    /// TLS certificates.
    pub(crate) tls: TlsFiles,
    /// The compression of requests.
    pub(crate) compression: Compression,
    /// The timeout of one request.
    pub(crate) timeout: Duration,
}

fn default_endpoint(protocol: Protocol) -> Masked<Endpoint> {
    let text = if protocol == Protocol::Grpc { "http://localhost:4317" } else { "http://localhost:4318" };
    text.parse::<Endpoint>().unwrap_or_else(|_| unreachable!("{text} is an address")).into()
}

fn with_signal_path(endpoint: Endpoint, signal: Signal) -> Endpoint {
    let path = format!("{}/v1/{}", endpoint.path().trim_end_matches('/'), signal.name());
    endpoint.with_path(path)
}

fn with_root_path(endpoint: Endpoint) -> Endpoint {
    if endpoint.path().is_empty() { endpoint.with_path("/".to_owned()) } else { endpoint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: Address, protocol: Option<Protocol>, expected: (&str, Protocol)) {
        let settings = OtlpSettings { address: Some(address), protocol, ..OtlpSettings::default() };
        let otlp = settings.resolve(Signal::Traces, &Proxies::default());
        assert_eq!((otlp.endpoint.to_string().as_str(), otlp.protocol), expected);
    }

    fn endpoint(text: &str) -> Masked<Endpoint> {
        text.parse::<Endpoint>().unwrap().into()
    }

    #[test]
    fn paths_follow_the_exporter_specification() {
        let (http, grpc) = (Protocol::HttpProtobuf, Protocol::Grpc);
        check(Address::Base(endpoint("http://x:4318")), None, ("http://x:4318/v1/traces", http));
        check(Address::Base(endpoint("http://x:4318/")), None, ("http://x:4318/v1/traces", http));
        check(Address::Base(endpoint("http://x/my/base/")), None, ("http://x/my/base/v1/traces", http));
        check(Address::Exact(endpoint("http://x:4318")), None, ("http://x:4318/", http));
        check(Address::Exact(endpoint("http://x:4318/spans")), None, ("http://x:4318/spans", http));
        check(Address::Base(endpoint("http://x:4317")), None, ("http://x:4317", grpc));
        check(Address::Base(endpoint("http://x:4317")), Some(http), ("http://x:4317/v1/traces", http));
        check(Address::Base(endpoint("x:4317/path")), None, ("https://x:4317", grpc));
    }

    #[test]
    fn nothing_said_means_the_standard_defaults() {
        let otlp = OtlpSettings::default().resolve(Signal::Logs, &Proxies::default());
        assert_eq!(otlp.endpoint.to_string(), "http://localhost:4318/v1/logs");
        assert_eq!((otlp.timeout, otlp.compression), (Duration::from_secs(10), Compression::None));
        let grpc = OtlpSettings { protocol: Some(Protocol::Grpc), ..OtlpSettings::default() };
        assert_eq!(grpc.resolve(Signal::Logs, &Proxies::default()).endpoint.to_string(), "http://localhost:4317");
    }
}
