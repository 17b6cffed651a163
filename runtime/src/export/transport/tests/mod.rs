//! The transport against servers on the loopback interface.

mod codec;
mod connections;
mod fuzz;
mod grpc;
mod http;
mod server;
mod tls;

use std::time::Duration;

use super::{Sent, Target, Transport};
use crate::base::secret::Secret;
use crate::config::{Protocol, Signal, TlsFiles};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn target(protocol: Protocol, url: String) -> Target {
    let headers = vec![("x-key".to_owned(), Secret::new("sesame"))];
    Target { protocol, url, headers, gzip: false, timeout: PATIENCE, tls: TlsFiles::default() }
}

fn transport(target: &Target) -> Transport {
    Transport::new(target, Signal::Traces).unwrap()
}

fn accepted() -> Sent {
    Sent::Accepted { rejected: 0, message: None }
}

/// The outcome in one line.
fn printed(sent: &Sent) -> String {
    match sent {
        Sent::Accepted { rejected, message } => format!("accepted, {rejected} rejected, {message:?}"),
        Sent::Retry { after, cause, .. } => format!("retry after {after:?}: {cause}"),
        Sent::Unconfirmed { cause } => format!("unconfirmed: {cause}"),
        Sent::TooLarge { cause } => format!("too large: {cause}"),
        Sent::Refused { cause } => format!("refused: {cause}"),
    }
}
