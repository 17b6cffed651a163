//! Proxies: plain HTTP sends whole requests to the proxy, everything else uses a tunnel through it.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use hyper::http::uri::Authority;
use hyper::rt::Executor as _;
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;

use super::address;
use super::error::TargetError;
use super::failure::{Failure, innermost};
use super::headers::AGENT;
use super::rotating;
use super::status::http_name;
use super::stream::Stream;
use super::tasks::Tasks;
use super::tls::Tls;
use crate::base::secret::Masked;
use crate::config::{Endpoint, Otlp, Protocol};

/// The proxy through which the receiver is reached.
pub(super) struct Proxy {
    pub(super) endpoint: Masked<Endpoint>,
    pub(super) tls: Option<Tls>,
    /// The receiver's host and port, if the proxy opens a tunnel to it; `None` if the proxy forwards the requests.
    tunnel: Option<Authority>,
}

impl Proxy {
    pub(super) fn new(target: &Otlp) -> Result<Option<Self>, TargetError> {
        let Some(endpoint) = target.proxy.clone() else { return Ok(None) };
        let tls = match address::is_tls(&endpoint) {
            true => Some(Tls::new("a proxy with `https`", &target.tls, b"http/1.1")?),
            false => None,
        };
        let tunnel = if reads_requests(target) { None } else { Some(authority(&target.endpoint)?) };
        Ok(Some(Proxy { endpoint, tls, tunnel }))
    }

    /// Opens a tunnel, unless the proxy forwards the requests.
    pub(super) async fn through(&self, stream: Stream) -> Result<Stream, Failure> {
        match &self.tunnel {
            Some(receiver) => self.tunnel(stream, receiver).await,
            None => Ok(stream),
        }
    }

    async fn tunnel(&self, stream: Stream, receiver: &Authority) -> Result<Stream, Failure> {
        let broken = |error: hyper::Error| self.failed(innermost(&error));
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // Dropped with this function: by then the connection is a tunnel, or has failed.
        let tasks = Tasks::new();
        tasks.executor().execute(connection.with_upgrades());
        let response = sender.send_request(self.request(receiver)).await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(self.failed(format!("HTTP {}", http_name(response.status()))));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(broken)?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }

    fn request(&self, receiver: &Authority) -> Request<Empty<Bytes>> {
        let mut request = Request::new(Empty::new());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = Uri::from(receiver.clone());
        let headers = request.headers_mut();
        if let Ok(host) = HeaderValue::from_str(receiver.as_str()) {
            headers.insert(HOST, host);
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if let Some(authorization) = authorization(&self.endpoint) {
            headers.insert(PROXY_AUTHORIZATION, authorization);
        }
        request
    }

    pub(super) fn failed(&self, cause: String) -> Failure {
        Failure::Unreachable(format!("proxy {}: {cause}", self.endpoint))
    }
}

/// True if the proxy forwards the requests: plain HTTP uses no tunnel.
pub(super) fn reads_requests(target: &Otlp) -> bool {
    target.proxy.is_some() && target.protocol != Protocol::Grpc && !address::is_tls(&target.endpoint)
}

/// Makes the value of a `Proxy-Authorization` header from the proxy's user info.
pub(super) fn authorization(proxy: &Endpoint) -> Option<HeaderValue> {
    address::authorization(proxy).as_ref().and_then(rotating::sendable)
}

/// The receiver's host and port, both of which a tunnel requires.
fn authority(endpoint: &Endpoint) -> Result<Authority, TargetError> {
    let port = endpoint.port().map_or_else(|| format!(":{}", address::port(endpoint)), |_| String::new());
    format!("{}{port}", endpoint.authority()).parse().map_err(|_| TargetError::Url)
}
