//! Sends encoded OTLP requests to a receiver, over gRPC or HTTP.
//!
//! A [`Transport`] serves one signal and sends one request at a time, over one connection that it keeps. The transport
//! runs in the caller's runtime, never blocks, and ends every send within the target's timeout. It retries only when a
//! kept connection turns out to be closed: the caller keeps the data and decides about retries.

mod address;
mod answer;
mod backoff;
mod connect;
mod error;
mod failure;
mod files;
#[cfg(feature = "grpc")]
mod grpc;
mod gzip;
mod headers;
mod hint;
mod http;
pub(crate) mod proto;
mod proxy;
mod rotating;
mod secrets;
mod sent;
mod status;
mod stream;
mod tasks;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;

#[cfg(all(test, not(all(feature = "grpc", feature = "tls"))))]
#[path = "tests/left_out.rs"]
mod left_out;
#[cfg(all(test, feature = "grpc", feature = "tls", not(miri), not(loom)))]
mod tests;

use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::PROXY_AUTHORIZATION;

use self::connect::Connector;
use self::failure::Failure;
use self::proxy::Proxy;
use self::rotating::Rotating;
use self::secrets::Secrets;

pub(crate) use self::backoff::Backoff;
pub(crate) use self::error::TargetError;
pub(crate) use self::sent::{Probe, Sent};

use crate::base::secret::Secret;
use crate::config::{Compression, Otlp, Protocol, Signal, TlsFiles};

/// The maximum number of bytes that are read of a response; responses are short.
const ANSWER_BYTES: usize = 64 * 1024;

/// The timeout of a probe.
const PROBED: Duration = Duration::from_secs(1);

/// Sends the requests of one signal to its receiver.
pub(crate) struct Transport {
    client: Client,
    connector: Box<Connector>,
    secrets: Secrets,
    rotating: Vec<Rotating>,
    timeout: Duration,
    /// True if a send was dropped before it ended, so its connection cannot be reused.
    unfinished: bool,
}

enum Client {
    Http(Box<http::Client>),
    #[cfg(feature = "grpc")]
    Grpc(Box<grpc::Client>),
}

impl Transport {
    /// Creates a transport. A timeout of zero means no limit. Neither connects nor reads files, and needs no runtime.
    #[cfg_attr(not(feature = "grpc"), expect(unused_variables, reason = "only gRPC has a path for each signal"))]
    pub(crate) fn new(target: &Otlp, signal: Signal) -> Result<Self, TargetError> {
        let uri = address::uri(&target.endpoint)?;
        let ((mut headers, rotating), gzip) = (headers::build(target)?, target.compression == Compression::Gzip);
        let whole = proxy::reads_requests(target);
        if let Some(authorization) =
            target.proxy.as_ref().filter(|_| whole).and_then(|proxy| proxy::authorization(proxy))
        {
            headers.insert(PROXY_AUTHORIZATION, authorization);
        }
        let tls = if address::is_tls(&target.endpoint) { Some(secure(target)?) } else { None };
        let timeout = if target.timeout.is_zero() { Duration::MAX } else { target.timeout };
        let client = match target.protocol {
            #[cfg(not(feature = "grpc"))]
            Protocol::Grpc => return Err(TargetError::NeedsFeature("the protocol `grpc`", "grpc")),
            #[cfg(feature = "grpc")]
            Protocol::Grpc => Client::Grpc(Box::new(grpc::Client::new(uri, signal, headers, gzip, timeout)?)),
            protocol => Client::Http(Box::new(http::Client::new(&uri, protocol, headers, gzip, whole))),
        };
        Ok(Transport {
            client,
            connector: Box::new(Connector::new(&target.endpoint, tls, Proxy::new(target)?, timeout)),
            secrets: Secrets::new(target),
            rotating,
            timeout,
            unfinished: false,
        })
    }

    /// Reads the files of certificates and headers now, so that an error shows at the start and not at the first
    /// request.
    pub(crate) fn check_files(&mut self) -> Result<(), String> {
        self.connector.check_files()?;
        self.rotating.iter_mut().try_for_each(Rotating::check)
    }

    /// Returns the problem of changed certificates or header values, if they are invalid; the previous ones stay in
    /// use.
    pub(crate) fn files_problem(&self) -> Option<String> {
        self.connector.files_problem().or_else(|| self.rotating.iter().find_map(Rotating::problem))
    }

    /// Sends one encoded request. To be able to retry, keep a clone of the `Bytes`, which is cheap.
    ///
    /// Requires a tokio runtime with time and I/O enabled.
    pub(crate) async fn send(&mut self, body: impl Into<Bytes>) -> Sent {
        let body = body.into();
        // A connection made with the old certificate would otherwise be used for as long as the receiver keeps it.
        if self.unfinished || self.connector.files_changed() {
            self.client.disconnect();
        }
        self.unfinished = true;
        let timeout = self.timeout;
        let sent = match tokio::time::timeout(timeout, self.attempt(body)).await {
            Ok(sent) => sent,
            Err(_) => self.timed_out(),
        };
        self.unfinished = false;
        sent.redacted(&self.secrets)
    }

    /// Returns whether the receiver is back, checked with the probe that the last send returned. Takes a second at
    /// most; `Probe::None` returns false.
    pub(crate) async fn probe(&mut self, probe: Probe) -> bool {
        let answered = async {
            match probe {
                Probe::None => false,
                Probe::Connection => self.connector.probe().await,
                Probe::Request => {
                    let nothing = match &self.client {
                        Client::Http(client) => client.nothing(),
                        #[cfg(feature = "grpc")]
                        Client::Grpc(_) => Bytes::new(),
                    };
                    !matches!(self.send(nothing).await, Sent::Retry { .. })
                }
            }
        };
        tokio::time::timeout(PROBED, answered).await.unwrap_or(false)
    }

    async fn attempt(&mut self, body: Bytes) -> Sent {
        for header in &mut self.rotating {
            if let Err(failure) = header.refresh(self.client.headers()).await {
                return failure.into();
            }
        }
        if !self.rotating.is_empty() {
            let values: Vec<Secret> = self.rotating.iter().filter_map(Rotating::value).cloned().collect();
            self.secrets.update(&values);
        }
        let reused = self.client.is_connected();
        let first = self.once(body.clone()).await;
        let outcome = match first {
            // Receivers close idle connections, which is not a failure, so this is retried once.
            Err(Failure::Broken(_)) if reused => self.once(body).await,
            other => other,
        };
        outcome.unwrap_or_else(Sent::from)
    }

    async fn once(&mut self, body: Bytes) -> Result<Sent, Failure> {
        let outcome = match &mut self.client {
            Client::Http(client) => client.send(&mut self.connector, body).await,
            #[cfg(feature = "grpc")]
            Client::Grpc(client) => client.send(&mut self.connector, body).await,
        };
        if outcome.is_err() {
            self.client.disconnect();
        }
        outcome
    }

    /// Handles a timeout: closes the connection and returns a retry. If only the HTTP/2 stream were cancelled, the next
    /// request would hang on the same dead connection.
    fn timed_out(&mut self) -> Sent {
        let what = if self.client.is_connected() { "answer" } else { "connection" };
        self.client.disconnect();
        let probe = if what == "answer" { Probe::Request } else { Probe::Connection };
        Sent::Retry { after: None, cause: format!("no {what} within {:?}", self.timeout), probe }
    }
}

fn secure(target: &Otlp) -> Result<tls::Tls, TargetError> {
    let TlsFiles { client_certificate, client_key, .. } = &target.tls;
    if client_certificate.is_some() != client_key.is_some() {
        return Err(TargetError::HalfClientCertificate);
    }
    let protocol: &[u8] = if target.protocol == Protocol::Grpc { b"h2" } else { b"http/1.1" };
    tls::Tls::new("an endpoint with `https`", &target.tls, protocol)
}

impl Client {
    fn headers(&mut self) -> &mut HeaderMap {
        match self {
            Client::Http(client) => client.headers(),
            #[cfg(feature = "grpc")]
            Client::Grpc(client) => client.headers(),
        }
    }

    fn is_connected(&self) -> bool {
        match self {
            Client::Http(client) => client.is_connected(),
            #[cfg(feature = "grpc")]
            Client::Grpc(client) => client.is_connected(),
        }
    }

    fn disconnect(&mut self) {
        match self {
            Client::Http(client) => client.disconnect(),
            #[cfg(feature = "grpc")]
            Client::Grpc(client) => client.disconnect(),
        }
    }
}
