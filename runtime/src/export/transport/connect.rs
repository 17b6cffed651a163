//! Makes connections, with TLS where the address asks for it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::address;
use super::failure::{Failure, innermost};
use super::stream::Stream;
use super::tls::{self, Tls};
use crate::config::Endpoint;

/// Knows where to connect to.
pub(super) struct Connector {
    host: String,
    port: u16,
    tls: Option<Tls>,
    timeout: Duration,
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint, tls: Option<Tls>, timeout: Duration) -> Self {
        Connector { host: endpoint.host().to_owned(), port: address::port(endpoint), tls, timeout }
    }

    pub(super) fn check_files(&mut self) -> Result<(), String> {
        self.tls.as_mut().map_or(Ok(()), |tls| tls.config().map(drop))
    }

    pub(super) fn files_changed(&self) -> bool {
        self.tls.as_ref().is_some_and(Tls::changed)
    }

    pub(super) fn files_problem(&self) -> Option<&str> {
        self.tls.as_ref().and_then(Tls::problem)
    }

    pub(super) async fn open(&mut self) -> Result<Stream, Failure> {
        let config = match &mut self.tls {
            Some(tls) => Some(tls.config().map_err(Failure::Insecure)?),
            None => None,
        };
        let stream = self.tcp().await?;
        match config {
            Some(config) => tls::handshake(config, &self.host, stream).await.map_err(Failure::Insecure),
            None => Ok(Box::new(stream)),
        }
    }

    /// Whether a connection can be made.
    pub(super) async fn probe(&self) -> bool {
        self.tcp().await.is_ok()
    }

    async fn tcp(&self) -> Result<TcpStream, Failure> {
        let unknown = |error: io::Error| Failure::Unreachable(format!("the host name cannot be resolved: {error}"));
        let addresses: Vec<SocketAddr> = lookup_host((self.host.as_str(), self.port)).await.map_err(unknown)?.collect();
        // One address that swallows packets must not use up the time of the others.
        let share = self.timeout / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut cause = "the host name has no address".to_owned();
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Requests are written whole; waiting for more would only delay them. Without it they still arrive.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => cause = innermost(&error),
                Err(_) => cause = format!("no connection within {share:?}"),
            }
        }
        Err(Failure::Unreachable(cause))
    }
}
