//! The result of a request.

use std::time::Duration;

use super::failure::Failure;
use super::secrets::Secrets;

/// The result of a request. Its texts contain neither header values nor user info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The receiver accepted all but `rejected` items, and may have added a message.
    Accepted { rejected: u64, message: Option<String> },
    /// Answered with a success that is not an OTLP response, so it is unknown whether a backend has the items.
    Unconfirmed { cause: String },
    /// To be retried, not before `after` if the receiver named a time. `probe` checks at little cost whether the
    /// receiver is back.
    Retry { after: Option<Duration>, cause: String, probe: Probe },
    /// Too large; the receiver may accept smaller parts.
    TooLarge { cause: String },
    /// Rejected for good: a retry cannot succeed.
    Refused { cause: String },
}

/// A cheap check whether a receiver is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// No probe; only the request itself is retried. The receiver is overloaded or named a time, or an operator has to
    /// fix the cause.
    None,
    /// Opens a connection, because the last attempt to connect failed.
    Connection,
    /// Sends a request without items, because a connection was opened but the last request failed.
    Request,
}

impl Sent {
    /// Makes the result of a success that is not an OTLP response; `what` describes the response.
    pub(super) fn not_otlp(what: &str) -> Self {
        Sent::Unconfirmed { cause: format!("the response is not OTLP: is this the right address? ({what})") }
    }

    pub(super) fn redacted(self, secrets: &Secrets) -> Self {
        match self {
            Sent::Accepted { rejected, message } => {
                Sent::Accepted { rejected, message: message.map(|message| secrets.apply(&message)) }
            }
            Sent::Unconfirmed { cause } => Sent::Unconfirmed { cause: secrets.apply(&cause) },
            Sent::Retry { after, cause, probe } => Sent::Retry { after, cause: secrets.apply(&cause), probe },
            Sent::TooLarge { cause } => Sent::TooLarge { cause: secrets.apply(&cause) },
            Sent::Refused { cause } => Sent::Refused { cause: secrets.apply(&cause) },
        }
    }
}

impl From<Failure> for Sent {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable(cause) => Sent::Retry { after: None, cause, probe: Probe::Connection },
            Failure::Broken(cause) => Sent::Retry { after: None, cause, probe: Probe::Request },
            // The fault is not in the request, and an operator may fix the receiver or the settings.
            Failure::Insecure(cause) | Failure::Garbage(cause) => {
                Sent::Retry { after: None, cause, probe: Probe::None }
            }
        }
    }
}
