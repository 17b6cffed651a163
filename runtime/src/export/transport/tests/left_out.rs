//! Targets that require a feature that is not built in are rejected with its name.

use std::time::Duration;

use super::Transport;
use crate::config::{Compression, Endpoint, Otlp, Protocol, Signal, TlsFiles};

fn refused(protocol: Protocol, url: &str) -> String {
    let endpoint = url.parse::<Endpoint>().unwrap().into();
    let (tls, compression, timeout) = (TlsFiles::default(), Compression::None, Duration::ZERO);
    let target = Otlp { protocol, endpoint, proxy: None, headers: Vec::new(), tls, compression, timeout };
    Transport::new(&target, Signal::Traces).err().unwrap().to_string()
}

#[cfg(not(feature = "grpc"))]
#[test]
fn grpc() {
    let expected = "the protocol `grpc` requires the feature `grpc` of `tracecast`; enable it in Cargo.toml";
    assert_eq!(refused(Protocol::Grpc, "http://localhost:4317"), expected);
}

#[cfg(not(feature = "tls"))]
#[test]
fn tls() {
    let expected = "an endpoint with `https` requires the feature `tls` of `tracecast`; enable it in Cargo.toml";
    assert_eq!(refused(Protocol::HttpJson, "https://localhost:4318"), expected);
}
