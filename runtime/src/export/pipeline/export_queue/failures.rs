//! What is reported about failures of a receiver.

use tokio::time::Instant;

use crate::base::notice;
use crate::export::pipeline::reported::{Reported, head};

/// The failures of one receiver, and when they were reported.
pub(super) struct Failures {
    /// What goes where, as in `traces to http://localhost:4318`.
    what: String,
    since: Option<Instant>,
    /// Whether this failure was reported.
    was_reported: bool,
    reported: Reported,
}

impl Failures {
    pub(super) fn new(what: String) -> Self {
        Failures { what, since: None, was_reported: false, reported: Reported::default() }
    }

    /// Reports a failure: the first time, and then once a minute.
    pub(super) fn failed(&mut self, cause: &str) {
        self.was_reported |= self.complain(head(cause), &format!("{cause}; trying again"));
        self.since.get_or_insert_with(Instant::now);
    }

    /// Reports what is wrong, unless the same cause was reported within a minute. Whether it did.
    pub(super) fn complain(&mut self, cause: &str, text: &str) -> bool {
        let due = self.reported.is_due(cause, Instant::now().into());
        if due {
            notice::say(format_args!("{}: {text}", self.what));
        }
        due
    }

    /// Reports the end of a failure that was reported.
    pub(super) fn recovered(&mut self) {
        let (since, was_reported) = (self.since.take(), std::mem::take(&mut self.was_reported));
        if let Some(since) = since.filter(|_| was_reported) {
            notice::at(notice::INFO, format_args!("{}: works again, after {:.1?}", self.what, since.elapsed()));
        }
    }
}
