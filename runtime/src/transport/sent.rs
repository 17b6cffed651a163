//! What became of a request.

use std::time::Duration;

use super::failure::Failure;
use super::redact::Redact;

/// What became of a request. No text in it holds a header or user info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The receiver took it, but for `rejected` of its items, and may have something to say.
    Accepted { rejected: u64, message: Option<String> },
    /// It may work later; not before `after`, if the receiver named a time.
    Retry { after: Option<Duration>, cause: String },
    /// It will not work, however often it is sent.
    Refused { cause: String },
}

impl Sent {
    pub(super) fn redacted(self, redact: &Redact) -> Self {
        match self {
            Sent::Accepted { rejected, message } => {
                Sent::Accepted { rejected, message: message.map(|message| redact.apply(&message)) }
            }
            Sent::Retry { after, cause } => Sent::Retry { after, cause: redact.apply(&cause) },
            Sent::Refused { cause } => Sent::Refused { cause: redact.apply(&cause) },
        }
    }
}

impl From<Failure> for Sent {
    fn from(failure: Failure) -> Self {
        match failure {
            // What speaks nonsense now may be a receiver again when it has been put right; what was to be sent is not at fault.
            Failure::Unreachable(cause) | Failure::Broken(cause) | Failure::Garbage(cause) => {
                Sent::Retry { after: None, cause }
            }
        }
    }
}
