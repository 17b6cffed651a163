//! Reports failures and recoveries of a receiver.

use tokio::time::Instant;

use crate::base::notice;
use crate::export::pipeline::reported::{Reported, head};

/// The failures of one receiver.
pub(super) struct Failures {
    /// The signal and its receiver, as in `traces to http://localhost:4318`.
    what: String,
    since: Option<Instant>,
    /// True if the present failure was reported.
    was_reported: bool,
    reported: Reported,
}

impl Failures {
    pub(super) fn new(what: String) -> Self {
        Failures { what, since: None, was_reported: false, reported: Reported::default() }
    }

    /// Reports a failure of an attempt that will be retried.
    pub(super) fn failed(&mut self, cause: &str) {
        self.was_reported |= self.complain(head(cause), &format!("{cause}; retrying"));
        self.since.get_or_insert_with(Instant::now);
    }

    /// Reports a warning, unless one with the same cause was reported within a minute. Returns whether it was reported.
    pub(super) fn complain(&mut self, cause: &str, text: &str) -> bool {
        let due = self.reported.is_due(cause, Instant::now().into());
        if due {
            notice::say(format_args!("{}: {text}", self.what));
        }
        due
    }

    /// Reports the recovery from a failure that was reported.
    pub(super) fn recovered(&mut self) {
        let (since, was_reported) = (self.since.take(), std::mem::take(&mut self.was_reported));
        if let Some(since) = since.filter(|_| was_reported) {
            notice::at(notice::INFO, format_args!("{}: recovered after {:.1?}", self.what, since.elapsed()));
        }
    }
}
