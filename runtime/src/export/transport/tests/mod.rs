//! Tests of the transport with servers on the loopback interface.

mod connections;
mod fuzz;
mod grpc;
mod http;
mod proxy;
mod rotating;
mod server;
mod tls;

use std::time::Duration;

use super::{Probe, Sent, Transport};
use crate::base::secret::Secret;
use crate::config::{Compression, Endpoint, Otlp, Protocol, Signal, TlsFiles};

/// One protocol over HTTP/1.1, one over HTTP/2.
const PROTOCOLS: [Protocol; 2] = [Protocol::HttpProtobuf, Protocol::Grpc];

/// The maximum time that a test waits, long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn target(protocol: Protocol, url: String) -> Otlp {
    let headers = vec![("x-key".to_owned(), Secret::new("sesame").into())];
    let endpoint = url.parse::<Endpoint>().unwrap().into();
    let (tls, compression) = (TlsFiles::default(), Compression::None);
    Otlp { protocol, endpoint, proxy: None, headers, tls, compression, timeout: PATIENCE }
}

fn transport(target: &Otlp) -> Transport {
    Transport::new(target, Signal::Traces).unwrap()
}

fn accepted() -> Sent {
    Sent::Accepted { rejected: 0, message: None }
}

/// Prints a result as one line.
fn printed(sent: &Sent) -> String {
    match sent {
        Sent::Accepted { rejected, message } => format!("accepted, {rejected} rejected, {message:?}"),
        Sent::Retry { after, cause, .. } => format!("retry after {after:?}: {cause}"),
        Sent::Unconfirmed { cause } => format!("unconfirmed: {cause}"),
        Sent::TooLarge { cause } => format!("too large: {cause}"),
        Sent::Refused { cause } => format!("refused: {cause}"),
    }
}
