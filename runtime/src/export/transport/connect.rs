//! Opens connections, through a proxy and with TLS if the settings ask for them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::address;
use super::failure::{Failure, innermost};
use super::proxy::Proxy;
use super::stream::Stream;
use super::tls::{self, Tls};
use crate::config::Endpoint;

/// Opens connections to one receiver.
pub(super) struct Connector {
    host: String,
    port: u16,
    tls: Option<Tls>,
    proxy: Option<Proxy>,
    timeout: Duration,
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint, tls: Option<Tls>, proxy: Option<Proxy>, timeout: Duration) -> Self {
        Connector { host: endpoint.host().to_owned(), port: address::port(endpoint), tls, proxy, timeout }
    }

    pub(super) fn check_files(&mut self) -> Result<(), String> {
        self.all_tls_mut().try_for_each(|tls| tls.config().map(drop))
    }

    pub(super) fn files_changed(&self) -> bool {
        self.all_tls().any(Tls::changed)
    }

    pub(super) fn files_problem(&self) -> Option<String> {
        self.all_tls().find_map(Tls::problem)
    }

    /// The TLS settings for the receiver, and for the proxy.
    fn all_tls(&self) -> impl Iterator<Item = &Tls> {
        self.tls.iter().chain(self.proxy.as_ref().and_then(|proxy| proxy.tls.as_ref()))
    }

    fn all_tls_mut(&mut self) -> impl Iterator<Item = &mut Tls> {
        self.tls.iter_mut().chain(self.proxy.as_mut().and_then(|proxy| proxy.tls.as_mut()))
    }

    pub(super) async fn open(&mut self) -> Result<Stream, Failure> {
        let config = match &mut self.tls {
            Some(tls) => Some(tls.config().map_err(Failure::Insecure)?),
            None => None,
        };
        let stream = self.reach().await?;
        match config {
            Some(config) => tls::handshake(config, &self.host, stream).await.map_err(Failure::Insecure),
            None => Ok(stream),
        }
    }

    /// Returns whether a connection can be opened, without a TLS handshake with the receiver.
    pub(super) async fn probe(&mut self) -> bool {
        self.reach().await.is_ok()
    }

    /// Connects to the receiver, directly or through the proxy.
    async fn reach(&mut self) -> Result<Stream, Failure> {
        let Some(proxy) = &mut self.proxy else {
            let stream = tcp(&self.host, self.port, self.timeout).await.map_err(Failure::Unreachable)?;
            return Ok(Box::new(stream));
        };
        let config = match &mut proxy.tls {
            Some(tls) => Some(tls.config().map_err(Failure::Insecure)?),
            None => None,
        };
        let (host, port) = (proxy.endpoint.host(), address::port(&proxy.endpoint));
        let stream = tcp(host, port, self.timeout).await.map_err(|cause| proxy.failed(cause))?;
        let stream: Stream = match config {
            Some(config) => {
                tls::handshake(config, host, Box::new(stream)).await.map_err(|cause| proxy.failed(cause))?
            }
            None => Box::new(stream),
        };
        proxy.through(stream).await
    }
}

async fn tcp(host: &str, port: u16, limit: Duration) -> Result<TcpStream, String> {
    let unknown = |error: io::Error| format!("the host name cannot be resolved: {error}");
    let addresses: Vec<SocketAddr> = lookup_host((host, port)).await.map_err(unknown)?.collect();
    // The time is divided among the addresses, so that one that drops packets leaves time for the others.
    let share = limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut cause = "the host name has no address".to_owned();
    for address in addresses {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Requests are written whole, so Nagle's algorithm would only delay them. If this call fails, requests
                // still arrive, with a delay.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => cause = innermost(&error),
            Err(_) => cause = format!("no connection within {share:?}"),
        }
    }
    Err(cause)
}
