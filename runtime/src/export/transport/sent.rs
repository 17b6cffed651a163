//! What became of a request.

use std::time::Duration;

use super::failure::Failure;
use super::redact::Redact;

/// What became of a request. No text in it holds a header or user info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The receiver took it, but for `rejected` of its items, and may have something to say.
    Accepted { rejected: u64, message: Option<String> },
    /// It was answered with a success that is not one of OTLP. Whether a receiver has it is unknown.
    Unconfirmed { cause: String },
    /// It may work later; not before `after`, if the receiver named a time. `probe` finds out when, at little cost.
    Retry { after: Option<Duration>, cause: String, probe: Probe },
    /// The receiver may take it in smaller parts.
    TooLarge { cause: String },
    /// It will not work, however often it is sent.
    Refused { cause: String },
}

/// What finds out whether a receiver is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Nothing but the request itself: the receiver asked for time, or what is wrong has to be put right by people.
    None,
    /// A connection: there was none.
    Connection,
    /// A request without items: there was a connection, and something behind it does not work.
    Request,
}

impl Sent {
    /// The answer is a success, and not one of OTLP; `what` says what it is.
    pub(super) fn not_otlp(what: &str) -> Self {
        Sent::Unconfirmed { cause: format!("the response is not OTLP: is this the right address? ({what})") }
    }

    pub(super) fn redacted(self, redact: &Redact) -> Self {
        match self {
            Sent::Accepted { rejected, message } => {
                Sent::Accepted { rejected, message: message.map(|message| redact.apply(&message)) }
            }
            Sent::Unconfirmed { cause } => Sent::Unconfirmed { cause: redact.apply(&cause) },
            Sent::Retry { after, cause, probe } => Sent::Retry { after, cause: redact.apply(&cause), probe },
            Sent::TooLarge { cause } => Sent::TooLarge { cause: redact.apply(&cause) },
            Sent::Refused { cause } => Sent::Refused { cause: redact.apply(&cause) },
        }
    }
}

impl From<Failure> for Sent {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable(cause) => Sent::Retry { after: None, cause, probe: Probe::Connection },
            Failure::Broken(cause) => Sent::Retry { after: None, cause, probe: Probe::Request },
            // What speaks nonsense now may be a receiver again when it has been put right; what was to be sent is not at fault.
            Failure::Insecure(cause) | Failure::Garbage(cause) => {
                Sent::Retry { after: None, cause, probe: Probe::None }
            }
        }
    }
}
