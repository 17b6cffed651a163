//! In the place of TLS where it is not built in: a target that needs it is refused.

use std::convert::Infallible;

use tokio::net::TcpStream;

use super::error::TargetError;
use super::stream::Stream;
use crate::config::Otlp;

/// There is none.
pub(super) struct Tls(Infallible);

impl Tls {
    pub(super) fn new(_: &Otlp) -> Result<Self, TargetError> {
        Err(TargetError::NeedsFeature("an endpoint with `https`", "tls"))
    }

    pub(super) fn changed(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn problem(&self) -> Option<&str> {
        match self.0 {}
    }

    pub(super) fn config(&mut self) -> Result<Infallible, String> {
        match self.0 {}
    }
}

#[expect(clippy::unused_async, reason = "as with TLS")]
pub(super) async fn handshake(config: Infallible, _: &str, _: TcpStream) -> Result<Stream, String> {
    match config {}
}
