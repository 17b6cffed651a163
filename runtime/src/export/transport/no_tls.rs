//! Replaces TLS in builds without it: targets that need it are rejected.

use std::convert::Infallible;

use super::error::TargetError;
use super::stream::Stream;
use crate::config::TlsFiles;

/// A type without values: this build has no TLS.
pub(super) struct Tls(Infallible);

impl Tls {
    pub(super) fn new(what: &'static str, _: &TlsFiles, _: &'static [u8]) -> Result<Self, TargetError> {
        Err(TargetError::NeedsFeature(what, "tls"))
    }

    pub(super) fn changed(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn problem(&self) -> Option<String> {
        match self.0 {}
    }

    pub(super) fn config(&mut self) -> Result<Infallible, String> {
        match self.0 {}
    }
}

#[expect(clippy::unused_async, reason = "as with TLS")]
pub(super) async fn handshake(config: Infallible, _: &str, _: Stream) -> Result<Stream, String> {
    match config {}
}
