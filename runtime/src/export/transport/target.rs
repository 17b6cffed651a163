//! What a transport is told: where to send what, and how.

use std::fmt;
use std::time::Duration;

use super::address;
use crate::base::secret::Secret;
use crate::config::{Protocol, TlsFiles};

/// A receiver.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) protocol: Protocol,
    /// Over HTTP the whole address of the signal; over gRPC its path and query do not count. User info in it becomes a header.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) gzip: bool,
    /// For one send, with its connection; zero means no limit.
    pub(crate) timeout: Duration,
    /// Without a CA file the system's roots are trusted.
    pub(crate) tls: TlsFiles,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = address::parse(&self.url).map_or_else(|_| "[invalid]".to_owned(), |address| address.shown);
        f.debug_struct("Target")
            .field("protocol", &self.protocol)
            .field("url", &url)
            .field("headers", &self.headers)
            .field("gzip", &self.gzip)
            .field("timeout", &self.timeout)
            .field("tls", &self.tls)
            .finish()
    }
}
