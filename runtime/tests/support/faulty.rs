//! The receiver that fails, for configurations of ours.

#![allow(unused_imports, dead_code, reason = "each test crate uses a part of it")]

use std::ops::Deref;

use tracecast::config::{Config, Protocol, TlsFiles};
pub(crate) use tracecast_receiver::{Folder, Kept, Mood, distinct, wait_until};

pub(crate) struct Faulty {
    receiver: tracecast_receiver::Faulty,
    protocol: Protocol,
}

impl Faulty {
    /// Starts it on a port of its own.
    pub(crate) fn start(protocol: Protocol, mood: Mood, tls: bool) -> Self {
        Faulty { receiver: tracecast_receiver::Faulty::start(protocol == Protocol::Grpc, mood, tls), protocol }
    }

    /// Sends everything here.
    pub(crate) fn configure(&self, config: Config) -> Config {
        let config = config.with_endpoint(self.url().parse().unwrap()).with_protocol(self.protocol);
        match self.ca() {
            Some(file) => config.with_tls(TlsFiles::default().with_ca(file)),
            None => config,
        }
    }
}

impl Deref for Faulty {
    type Target = tracecast_receiver::Faulty;

    fn deref(&self) -> &Self::Target {
        &self.receiver
    }
}
